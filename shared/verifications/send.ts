import { ApiError } from "../api/contract/errors.ts";
import type { SendSmsRequest } from "../api/contract/sms.ts";
import { acceptPrepared, type AcceptOptions } from "../messages/accept/accept-one.ts";
import { Preparation } from "../messages/accept/prepare.ts";
import { countryOfNumber } from "../messages/destinations/numbering-plan.ts";
import { codePlaceholder, redactedText, type MessageRecord } from "../messages/message/record.ts";
import { textToSubmit } from "../messages/message/verification-code.ts";
import { now, secondMs } from "../platform/clock.ts";
import { isTestId } from "../platform/ids.ts";
import { secondsUntil } from "../platform/jobs/job.ts";
import { keys } from "../platform/table/keys.ts";
import { updateOf, type Write } from "../platform/table/write.ts";
import type { OrganizationRecord } from "../tenancy/organizations/record.ts";
import { requireCheck } from "./checks-of-day.ts";
import { owedEnding } from "./ending-job.ts";
import { maxChecks, maxSends, toApiVerification, whilePending, type VerificationRecord } from "./record.ts";

/** The seconds from each send to the next one. */
const secondsBetweenSends = [30, 60, 120, 120];

/** Returns when a code can be sent again, in ISO 8601. @param sends how often it was sent, the send at `at` included */
function nextSendAt(sends: number, at: Date): string | undefined {
  const seconds = secondsBetweenSends[sends - 1];
  return seconds === undefined ? undefined : new Date(at.getTime() + seconds * secondMs).toISOString();
}

/** @throws ApiError TOO_MANY_SENDS when the code of a pending verification cannot be sent now */
function requireSend({ sends, nextSendAt: next, validUntil }: VerificationRecord): void {
  if (sends < maxSends && (next === undefined || secondsUntil(next) === 0)) return;
  const isLater = sends < maxSends && next !== undefined && next < validUntil;
  throw new ApiError("TOO_MANY_SENDS", {
    retryAfterSeconds: Math.max(1, secondsUntil(isLater ? next : validUntil)),
  });
}

/**
 * Sends the code of a verification: one transaction has the message, its ledger entry and the change of the verification.
 * @param verification as it is before the message
 * @param record returns the writes that record the verification after it
 * @returns the verification after it
 * @throws ApiError as `acceptMessage`, but INSUFFICIENT_SCOPE for a message that a person has to approve; UNAVAILABLE also if
 *   another call changed the verification
 */
export async function sendCode(
  organization: OrganizationRecord,
  verification: VerificationRecord,
  record: (after: VerificationRecord, at: Date) => readonly Write[],
  options: AcceptOptions,
): Promise<VerificationRecord> {
  const { id, to, sends } = verification;
  const request = requestFor(verification);
  const preparation = new Preparation(organization, options.actor, request);
  const checked = await preparation.prepare(request);
  const country = countryOfNumber(to);
  const feeMicros = sends === 0 ? await preparation.verificationFeeMicros(to) : 0;
  const message: MessageRecord = {
    ...checked,
    ...(await contentOf(verification)),
    ...(feeMicros > 0 ? { feeMicros, fee: "open" } : {}),
  };
  if (preparation.isHeld(message, feeMicros)) {
    throw new ApiError("INSUFFICIENT_SCOPE", {
      message: "The message costs more than this API key may spend without the approval of a person.",
    });
  }
  const at = now();
  const after = { ...withMessage(verification, message, at), ...(sends === 0 && { feeMicros, country }) };
  const response = options.attempt?.complete(toApiVerification(after));
  const writes = [...record(after, at), ...(response === undefined ? [] : [response])];
  const fee = { amountMicros: feeMicros, isFee: true, country, verificationId: id } as const;
  await acceptPrepared(preparation, { message, fees: feeMicros > 0 ? [fee] : [], writes }, options);
  return after;
}

/** Returns the request for a message with digits in place of the code: unlike the placeholder, any code is in GSM-7. */
function requestFor({ to, text, code, validUntil, senderId }: VerificationRecord): SendSmsRequest {
  return {
    to,
    message: text.replaceAll(codePlaceholder, "0".repeat(code.length)),
    senderId,
    language: "English",
    messageType: "otp",
    expiresInSeconds: Math.max(1, secondsUntil(validUntil)),
  };
}

/** Returns what a message has of its verification. Its text has the placeholder, except in a test, which learns the code from it. */
async function contentOf({ id, text, code }: VerificationRecord) {
  const content = { message: text, verificationId: id, code };
  return { ...content, message: isTestId(id) ? await textToSubmit(content) : text };
}

function withMessage(before: VerificationRecord, message: MessageRecord, at: Date): VerificationRecord {
  const sends = before.sends + 1;
  return {
    ...before,
    senderId: message.senderId,
    sends,
    nextSendAt: nextSendAt(sends, at),
    messageMicros: before.messageMicros + message.totalMicros,
    messageIds: [...before.messageIds, message.id],
  };
}

/** The fields that a repeat of a verification may change. */
export type RepeatChanges = Partial<
  Pick<VerificationRecord, "checks" | "code" | "locale" | "text" | "validUntil">
>;

/**
 * Sends the code of a pending verification again.
 * @param changes another text or code, which replaces the one before
 * @throws ApiError TOO_MANY_CHECKS when the code cannot be checked any more; VERIFICATION_NOT_PENDING after the erasure of the
 *   number, TOO_MANY_SENDS; as `sendCode`
 */
export async function sendAgain(
  organization: OrganizationRecord,
  before: VerificationRecord,
  options: AcceptOptions,
  changes: RepeatChanges = {},
): Promise<VerificationRecord> {
  if (before.checks >= maxChecks) throw new ApiError("TOO_MANY_CHECKS");
  requireSend(before);
  if (!isTestId(before.id)) await requireCheck(before);
  if (before.to === redactedText) throw new ApiError("VERIFICATION_NOT_PENDING");
  const { to, sends } = before;
  const replaced = { ...before, ...changes };
  const { code, validUntil, text, locale } = replaced;
  const record = (after: VerificationRecord, at: Date) => {
    const { messageMicros, messageIds, nextSendAt: next, sends: count } = after;
    const sent = { messageMicros, messageIds, sends: count, nextSendAt: next };
    const set = { ...sent, code, validUntil, text, locale, checks: changes.checks };
    const { is, above } = whilePending(at);
    const isExtended = validUntil !== before.validUntil;
    return [
      updateOf(
        keys.verification(organization.id, before.id),
        { set, remove: next === undefined ? ["nextSendAt"] : [] },
        // Each send has the next count, so the time of the next one is as it was read.
        {
          is: { ...is, sends, to, ...(changes.checks === undefined ? {} : { checks: before.checks }) },
          above,
          below: { checks: maxChecks },
        },
      ),
      ...(isExtended ? [owedEnding({ ...after, createdAt: at.toISOString() })] : []),
    ];
  };
  return sendCode(organization, replaced, record, options);
}
