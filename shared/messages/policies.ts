import type { OrganizationRecord } from "../accounts/organization-record.ts";
import { isOwnerVerified, readRights } from "../accounts/rights-record.ts";
import { trafficClass } from "../carriers/traffic-class.ts";
import { ApiError } from "../contract/errors.ts";
import { isPossibleNumber } from "../contract/phone-numbers.ts";
import type { MessageErrorCode } from "../contract/sms.ts";
import { hasOptedOut, hasSaidStopTo } from "../opt-outs/record.ts";
import { config } from "../platform/config.ts";
import { isApprovedSenderId } from "../sender-ids/names.ts";
import { countryOfNumber, typesOfNumber } from "./numbering-plan.ts";
import type { MessageRecord } from "./record.ts";

/*
 * What a stage asks of those who send and of what they send, beside the contract's own rules (`policies` in
 * `infra/stages/README.md`), and what people have asked for who get it. Where a stage asks for nothing, nothing is read.
 */

/** Who sends, under which name. */
type Sending = Pick<MessageRecord, "organizationId" | "senderId">;

/** Why an organization may not send, if it may not. */
type SenderRefusal = "EMAIL_NOT_VERIFIED" | "KYC_REQUIRED" | "SENDER_ID_NOT_APPROVED";

/**
 * Holds a message that is to be accepted against all policies.
 * @param organization the record of the message's organization
 * @throws ApiError EMAIL_NOT_VERIFIED, KYC_REQUIRED, SENDER_ID_NOT_APPROVED, DESTINATION_NOT_ALLOWED, RECIPIENT_OPTED_OUT,
 *   in this order
 */
export async function checkMessage(
  organization: OrganizationRecord | undefined,
  message: Pick<MessageRecord, "campaignId" | "messageType" | "to"> & Sending,
): Promise<void> {
  await checkSender(message);
  checkDestination(message.to);
  const mayHaveReplies = organization === undefined || organization.repliesSince !== undefined;
  if (await isUnwanted(message, mayHaveReplies)) throw new ApiError("RECIPIENT_OPTED_OUT");
}

/**
 * Holds those who want to send against the policies, whatever they send.
 * @throws ApiError EMAIL_NOT_VERIFIED, KYC_REQUIRED, SENDER_ID_NOT_APPROVED, in this order
 */
export async function checkSender(sending: Sending): Promise<void> {
  const refusal = await refusalOfSender(sending);
  if (refusal !== undefined) throw new ApiError(refusal);
}

/** The same for those who have something to do about a refusal. */
export async function refusalOfSender({
  organizationId,
  senderId,
}: Sending): Promise<SenderRefusal | undefined> {
  const needsVerifiedEmail = config.verifiedEmailBeforeSending();
  const needsKyc = config.kycBeforeSending();
  if (needsVerifiedEmail || needsKyc) {
    const rights = await readRights(organizationId);
    if (needsVerifiedEmail && !isOwnerVerified(rights)) return "EMAIL_NOT_VERIFIED";
    if (needsKyc && rights.kycApprovedAt === undefined) return "KYC_REQUIRED";
  }
  if (await isSenderIdRefused({ organizationId, senderId })) return "SENDER_ID_NOT_APPROVED";
  return undefined;
}

/** @throws ApiError DESTINATION_NOT_ALLOWED */
export function checkDestination(to: string): void {
  const message = refusalOfDestination(to);
  if (message !== undefined) throw new ApiError("DESTINATION_NOT_ALLOWED", { message });
}

/** Whether messages may go to a number. */
export function isDestinationAllowed(to: string): boolean {
  return refusalOfDestination(to) === undefined;
}

/** The numbers that the sandbox carrier decides by. They are not assigned, so no policy applies to them. */
const sandboxNumbers = /^1500555000[0-8]$/;

/**
 * Why messages may not go to a number, in a sentence for the caller. A number of no country is allowed only where any country
 * is, and one of no known type only where any type is.
 */
function refusalOfDestination(to: string): string | undefined {
  // An older release took numbers of lengths that are impossible, which contacts may still have.
  if (!isPossibleNumber(to)) return "This cannot be a phone number.";
  if (config.carrier() === "sandbox" && sandboxNumbers.test(to)) return undefined;
  const countries = config.allowedCountries();
  const country = countryOfNumber(to);
  if (countries !== undefined && !countries.has(country ?? "none")) {
    return `No messages are sent to numbers of ${country ?? "no country"} from here.`;
  }
  const allowed = config.allowedNumberTypes();
  if (allowed === undefined) return undefined;
  const types = typesOfNumber(to);
  if (types.some((type) => allowed.has(type))) return undefined;
  const found = types.length === 0 ? "is in no assigned range" : `is of the type ${types.join(" or ")}`;
  return `Messages are sent to numbers of the type ${[...allowed].join(" or ")} only from here; this one ${found}.`;
}

/**
 * Whether it has to be looked up if a number wants a message.
 * @param mayHaveReplies whether anybody can answer the organization
 */
export function mayBeUnwanted(
  message: Pick<MessageRecord, "campaignId" | "messageType">,
  mayHaveReplies: boolean,
): boolean {
  const traffic = trafficClass(message);
  return traffic === "marketing" || (traffic === "transactional" && mayHaveReplies);
}

/**
 * Whether a number does not want a message: no marketing once an opt-out is in force, and nothing but one-time codes once
 * the person has answered STOP. A message of no type is no code here, for it may be anything.
 * @param mayHaveReplies whether anybody can answer the organization: where nobody can, nobody has said STOP, and it costs no
 *   read to know that
 */
async function isUnwanted(
  message: Pick<MessageRecord, "campaignId" | "messageType" | "organizationId" | "to">,
  mayHaveReplies: boolean,
): Promise<boolean> {
  const { organizationId, to } = message;
  switch (trafficClass(message)) {
    case "otp":
      return false;
    case "marketing":
      return hasOptedOut(organizationId, to);
    case "transactional":
      return mayHaveReplies && (await hasSaidStopTo(organizationId, to));
  }
}

/** Whether the stage asks for approved sender IDs, and this one is none. */
export async function isSenderIdRefused({ organizationId, senderId }: Sending): Promise<boolean> {
  return config.approvedSenderIdsOnly() && !(await isApprovedSenderId(organizationId, senderId));
}

/**
 * Why a message may go to no carrier any more though it was accepted: much can change until its time has come.
 * @param mayHaveReplies whether anybody can answer the organization
 */
export async function refusalBeforeHandOff(
  message: MessageRecord,
  mayHaveReplies: boolean,
): Promise<MessageErrorCode | undefined> {
  if (await isSenderIdRefused(message)) return "MESSAGE_SENDER_ID_NOT_APPROVED";
  return (await isUnwanted(message, mayHaveReplies)) ? "MESSAGE_RECIPIENT_OPTED_OUT" : undefined;
}
