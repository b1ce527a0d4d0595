import { ApiError } from "../../api/contract/errors.ts";
import { sandboxNumbers } from "../../api/contract/sandbox-numbers.ts";
import { senderRuleOf, type SenderRule } from "../../api/contract/sender-rules.ts";
import type { MessageErrorCode } from "../../api/contract/sms.ts";
import { trafficClass } from "../../carriers/traffic-class.ts";
import { blockedPrefixes, isBlocked } from "../../money/prices/blocked-destinations.ts";
import { config } from "../../platform/config.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { isOwnerVerified, readRights } from "../../tenancy/organizations/rights-record.ts";
import { impossibility } from "../destinations/impossible-numbers.ts";
import { countryOfNumber, typesOfNumber } from "../destinations/numbering-plan.ts";
import { effectsOf } from "../message/effects.ts";
import type { MessageRecord } from "../message/record.ts";
import { findNumber, isNumberOfOthers } from "../numbers/record.ts";
import { findOptOutRecord, inForce, wishesOf } from "../opt-outs/record.ts";
import { hasSentStop } from "../opt-outs/standing.ts";
import { isApprovedSenderId, isNumeric } from "../sender-ids/names.ts";

/*
 * The rules of a stage for senders and messages, in addition to the contract (`policies` in `infra/stack/stages/README.md`), and
 * the wishes of recipients. Without a rule, nothing is read for it. Blocked destinations are read once for many messages.
 */

/** An organization, and the name or number that it sends from. */
type Sending = Pick<MessageRecord, "from" | "organizationId" | "senderId">;

/** The sender and the recipient of a message. */
type Addressed = Pick<MessageRecord, "from" | "senderId" | "to">;

/** Why an organization may not send, if it may not. */
type SenderRejection = "EMAIL_NOT_VERIFIED" | "KYC_REQUIRED" | "SENDER_ID_NOT_APPROVED";

/** The reads of the checks, which many messages share: why a sender may not send, and the wishes of a number. */
interface PolicyReads {
  readonly senderRejection: (sending: Sending) => Promise<SenderRejection | undefined>;
  readonly findOptOutRecord: typeof findOptOutRecord;
}
const ownReads: PolicyReads = { senderRejection, findOptOutRecord };

/**
 * Checks a message that is to be accepted against all policies.
 * @param organization the record of the message's organization
 * @throws ApiError EMAIL_NOT_VERIFIED, KYC_REQUIRED, SENDER_ID_NOT_APPROVED, DESTINATION_NOT_ALLOWED,
 *   SENDER_NOT_ALLOWED_IN_COUNTRY, RECIPIENT_OPTED_OUT, in this order
 */
export async function checkMessage(
  organization: OrganizationRecord | undefined,
  message: Pick<MessageRecord, "campaignId" | "messageType" | "to"> & Sending,
  reads = ownReads,
): Promise<void> {
  await checkSender(message, reads);
  await checkDestination(message);
  checkSenderInCountry(message);
  const mayHaveReplies = organization === undefined || organization.repliesSince !== undefined;
  if (await isUnwanted(message, mayHaveReplies, reads)) throw new ApiError("RECIPIENT_OPTED_OUT");
}

/**
 * Checks a test message. No phone gets it, so the policies do not apply. Opt-outs do, so that tests show their errors.
 * @throws ApiError RECIPIENT_OPTED_OUT
 */
export async function checkTestMessage(
  { repliesSince }: OrganizationRecord,
  message: Pick<MessageRecord, "messageType" | "organizationId" | "to">,
  reads = ownReads,
): Promise<void> {
  if (await isUnwanted(message, repliesSince !== undefined, reads)) throw new ApiError("RECIPIENT_OPTED_OUT");
}

/**
 * Checks a sender against the policies, regardless of the message.
 * @throws ApiError EMAIL_NOT_VERIFIED, KYC_REQUIRED, SENDER_ID_NOT_APPROVED, in this order
 */
export async function checkSender(sending: Sending, reads = ownReads): Promise<void> {
  const rejection = await reads.senderRejection(sending);
  if (rejection === undefined) return;
  const { from } = sending;
  const isNumberRejected = rejection === "SENDER_ID_NOT_APPROVED" && from !== undefined;
  const message = `The number ${from} is not assigned to this organization alone.`;
  throw new ApiError(rejection, isNumberRejected ? { message } : {});
}

/** Returns why a sender may not send, for callers that handle the reason themselves. */
export async function senderRejection(sending: Sending): Promise<SenderRejection | undefined> {
  const { organizationId } = sending;
  const needsVerifiedEmail = config.verifiedEmailBeforeSending();
  const needsKyc = config.kycBeforeSending();
  if (needsVerifiedEmail || needsKyc) {
    const rights = await readRights(organizationId);
    if (needsVerifiedEmail && !isOwnerVerified(rights)) return "EMAIL_NOT_VERIFIED";
    if (needsKyc && rights.kycApprovedAt === undefined) return "KYC_REQUIRED";
  }
  if (await isSenderRejected(sending)) return "SENDER_ID_NOT_APPROVED";
  return undefined;
}

/** @throws ApiError DESTINATION_NOT_ALLOWED; UNAVAILABLE */
export async function checkDestination({
  organizationId,
  to,
}: Pick<MessageRecord, "organizationId" | "to">): Promise<void> {
  const message = destinationRejection(to, await blockedPrefixes(organizationId));
  if (message !== undefined) throw new ApiError("DESTINATION_NOT_ALLOWED", { message });
}

/**
 * Whether messages may go to a number.
 * @param blocked the prefixes that are blocked for the organization
 */
export function isDestinationAllowed(to: string, blocked: readonly string[]): boolean {
  return destinationRejection(to, blocked) === undefined;
}

/**
 * Returns why messages may not go to a number, in a sentence for the caller. A number without a country is allowed only if
 * every country is. A number of unknown type is allowed only if every type is. An impossible number is allowed only if both
 * are. A blocked one never is.
 */
function destinationRejection(to: string, blocked: readonly string[]): string | undefined {
  if (isBlocked(to, blocked)) return "No messages are sent to this number from here.";
  if (isSandboxNumber(to)) return undefined;
  // Undefined on a stage that allows all countries and all types.
  const problem = impossibility(to);
  if (problem !== undefined) return `This ${problem}.`;
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
  return `This gateway sends only to numbers of the type ${[...allowed].join(" or ")}; this one ${found}.`;
}

function isSandboxNumber(to: string): boolean {
  return config.carrier() === "sandbox" && Object.hasOwn(sandboxNumbers, to);
}

/** Returns the rule of a recipient's country for the letters that a message comes from; undefined if none is known. */
export function senderRuleFor({ to, senderId, from }: Addressed): SenderRule | undefined {
  if (from !== undefined || isNumeric(senderId) || isSandboxNumber(to)) return undefined;
  return senderRuleOf(countryOfNumber(to));
}

/** @throws ApiError SENDER_NOT_ALLOWED_IN_COUNTRY if the rule of the recipient's country forbids the sender */
export function checkSenderInCountry(message: Addressed): void {
  const forbidding = ruleAgainstSender(message);
  if (forbidding === undefined) return;
  const details = [{ path: "senderId", message: forbidding.rule }];
  throw new ApiError("SENDER_NOT_ALLOWED_IN_COUNTRY", { details });
}

/** Returns the rule of a recipient's country that forbids the sender, on stages that reject such messages. */
export function ruleAgainstSender(message: Addressed): SenderRule | undefined {
  if (!config.lettersOnlyWhereAllowed()) return undefined;
  const rule = senderRuleFor(message);
  return rule?.alpha === "never" ? rule : undefined;
}

/**
 * Whether a message may be unwanted, so that its number has to be looked up.
 * @param mayHaveReplies whether people can reply to the organization
 */
export function mayBeUnwanted(
  message: Pick<MessageRecord, "campaignId" | "messageType">,
  mayHaveReplies: boolean,
): boolean {
  const traffic = trafficClass(message);
  return traffic === "marketing" || (traffic === "transactional" && mayHaveReplies);
}

/**
 * Whether a number does not want a message. An opt-out ends marketing. A reply of STOP ends everything except one-time
 * codes. A message without a type does not count as a code here, because it may be anything.
 * @param mayHaveReplies whether people can reply to the organization. If not, there is no STOP, and nothing is read.
 */
async function isUnwanted(
  message: Pick<MessageRecord, "campaignId" | "messageType" | "organizationId" | "to">,
  mayHaveReplies: boolean,
  reads = ownReads,
): Promise<boolean> {
  if (!mayBeUnwanted(message, mayHaveReplies)) return false;
  const record = await reads.findOptOutRecord(message.organizationId, message.to);
  if (record === undefined) return false;
  return trafficClass(message) === "marketing"
    ? inForce(record) !== undefined
    : hasSentStop(wishesOf(record));
}

/**
 * Whether an organization may not send from a number or a sender ID. A number has to be its own alone. Where the stage
 * requires approval, a sender ID needs it, and digits never have it. Elsewhere digits must not be the number of others.
 */
export async function isSenderRejected({ organizationId, senderId, from }: Sending): Promise<boolean> {
  if (from !== undefined) return (await findNumber(from))?.organizationId !== organizationId;
  if (config.approvedSenderIdsOnly()) return !(await isApprovedSenderId(organizationId, senderId));
  return isNumeric(senderId) && isNumberOfOthers(organizationId, senderId);
}

/**
 * Returns why an accepted message may no longer go to a carrier. The rules that change until it is due are those of senders and
 * of blocked prefixes, and the wishes of recipients. The others depend on the stage, and were checked when it was accepted.
 * @param mayHaveReplies whether people can reply to the organization
 */
export async function rejectionBeforeSubmit(
  message: MessageRecord,
  mayHaveReplies: boolean,
): Promise<MessageErrorCode | undefined> {
  if (effectsOf(message).hasLiveRules) {
    if ((await isSenderRejected(message)) || ruleAgainstSender(message) !== undefined)
      return "MESSAGE_SENDER_ID_NOT_APPROVED";
    if (isBlocked(message.to, await blockedPrefixes(message.organizationId))) return "MESSAGE_UNROUTABLE";
  }
  return (await isUnwanted(message, mayHaveReplies)) ? "MESSAGE_RECIPIENT_OPTED_OUT" : undefined;
}
