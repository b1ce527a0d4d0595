import * as z from "zod/mini";

import type { Message } from "../../api/contract/sms.ts";
import type { MessageRecord } from "./record.ts";

/*
 * The outcomes of a message's submissions. They are recorded with writes that happen anyway. A message that its first
 * carrier accepted needs no record, because its state shows the attempt.
 */

/** How many of the last attempts are kept. */
const maxAttempts = 5;

/** `buffered`: the carrier has accepted the message, and keeps it because it cannot send it on now. */
const outcomes = ["accepted", "buffered", "rejected", "throttled", "unknown", "unreachable"] as const;

export const Attempt = z.object({
  /** When the carrier responded, or, if the outcome is unknown, when the attempt began. In ISO 8601. */
  at: z.string(),
  carrier: z.string(),
  /** Rows from before 0.3.0 have `refused`. */
  outcome: z.pipe(
    z.transform((outcome: unknown) => (outcome === "refused" ? "rejected" : outcome)),
    z.enum(outcomes),
  ),
  /** The carrier's own code, or the name of the failure on the way to it: see `providerCodeOf`. */
  code: z.optional(z.string()),
});
export type Attempt = z.infer<typeof Attempt>;

/** Returns a message with one more attempt. */
export function withAttempt(message: MessageRecord, attempt: Attempt): MessageRecord {
  return { ...message, attemptLog: [...(message.attemptLog ?? []), attempt].slice(-maxAttempts) };
}

/** Returns the last attempts of a message, the oldest first. */
export function attemptsOf({ attemptLog = [], carrier, status, sentAt }: MessageRecord): readonly Attempt[] {
  if (status !== "sent" || sentAt === undefined || carrier === undefined) return attemptLog;
  if (attemptLog.at(-1)?.outcome === "buffered") return attemptLog;
  return [...attemptLog, { at: sentAt, carrier, outcome: "accepted" as const }].slice(-maxAttempts);
}

/** Returns the last attempts as customers see them, without carriers and their codes. */
export function toApiAttempts(message: MessageRecord): Message["attempts"] {
  const attempts = attemptsOf(message).map(({ at, outcome }) => ({
    at,
    outcome: outcome === "buffered" ? ("accepted" as const) : outcome,
  }));
  return attempts.length === 0 ? undefined : attempts;
}
