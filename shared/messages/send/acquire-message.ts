import { minuteMs, now } from "../../platform/clock.ts";
import { hasLease, isFree, newLease } from "../../platform/table/lease.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { type Outcome, updateItem } from "../../platform/table/write.ts";
import { withAttempt, type Attempt } from "../message/attempts.ts";
import { MessageRecord } from "../message/record.ts";
import { acquire, type Acquisition } from "../message/transitions.ts";
import type { Choice } from "./choose-carrier.ts";

/**
 * Longer than a sender can run, so that a lease lapses only after its sender has ended. Shorter than the queue hides a job,
 * so that the lease has lapsed when the job returns.
 */
export const messageLeaseMs = minuteMs;

/** A choice that needs the lease of the message. */
export type Decision = Exclude<Choice, { kind: "wait" }>;

/**
 * Acquires a message for a choice.
 * @returns the leased message, or the message as it has ended since
 * @throws Error when another sender holds it, or the choice is based on outdated state
 */
export async function acquireMessage(message: MessageRecord, choice: Decision): Promise<MessageRecord> {
  const at = now();
  const acquired = await applyAcquisition(message, choice, { at, lapsed: lapsedLease(message, at) });
  if (acquired.applied) return acquired.item;
  const found = MessageRecord.parse(acquired.found);
  if (found.status === "queued") throw leasedByOther();
  return found;
}

/**
 * Acquires a message without reading it, for a choice. This succeeds only if no sender has acquired the message before.
 * @returns the leased message, or the message as it was found
 * @throws Error when another sender holds it
 */
export async function acquireNewMessage(
  message: Pick<MessageRecord, "id" | "organizationId">,
  choice: Decision,
): Promise<Acquired> {
  const at = now();
  const acquired = await applyAcquisition(message, choice, { at, isFirst: true });
  if (acquired.applied) return { leased: acquired.item };
  const found = acquired.found && MessageRecord.parse(acquired.found);
  if (found?.status === "queued" && !isFree(found, at)) throw leasedByOther();
  return { found };
}

/** A leased message, or one without the lease, if it was found. */
export type Acquired =
  | { readonly leased: MessageRecord }
  | { readonly leased?: undefined; readonly found: MessageRecord | undefined };

function leasedByOther(): Error {
  return new Error("another sender holds this message");
}

async function applyAcquisition(
  message: Pick<MessageRecord, "id" | "organizationId">,
  choice: Decision,
  { at, ...seen }: Pick<Acquisition, "at" | "isFirst" | "lapsed">,
): Promise<Outcome<MessageRecord>> {
  const lease = newLease(at, messageLeaseMs);
  const carrier = choice.kind === "submit" ? choice.named.name : undefined;
  return updateItem(MessageRecord, acquire(messageKey(message), { lease, at, carrier, ...seen }), {
    isOwn: hasLease(lease),
  });
}

/** Returns the lease of a sender that ended without recording an outcome, and the attempts including that one. */
function lapsedLease(message: MessageRecord, at: Date): Acquisition["lapsed"] {
  const { leaseUntil } = message;
  if (leaseUntil === undefined || !isFree(message, at)) return undefined;
  const open = openAttempt(message);
  if (open === undefined) return undefined;
  return {
    leaseUntil,
    attemptLog: (open === message.attemptLog?.at(-1) ? message : withAttempt(message, open)).attemptLog,
  };
}

/**
 * Returns the attempt of the present or lapsed lease of a queued message, as its sender recorded it, or as the lease shows it.
 * Its carrier may still accept the message. Undefined for a message that no carrier may have.
 */
export function openAttempt({
  status,
  unresolvedAttempts,
  carrier,
  leaseUntil,
  attemptLog,
}: MessageRecord): Attempt | undefined {
  if (status !== "queued" || unresolvedAttempts === 0 || carrier === undefined || leaseUntil === undefined)
    return undefined;
  const at = new Date(Date.parse(leaseUntil) - messageLeaseMs).toISOString();
  const last = attemptLog?.at(-1);
  const isRecorded = last?.outcome === "unknown" && last.carrier === carrier && last.at >= at;
  return isRecorded ? last : { at, carrier, outcome: "unknown" };
}
