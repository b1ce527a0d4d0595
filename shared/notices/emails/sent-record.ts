import { createHash } from "node:crypto";

import * as z from "zod/mini";

import { dayMs, epochSeconds, minuteMs, now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { acquireLease, hasLease, leaseFields, newLease } from "../../platform/table/lease.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";

/** Longer than a worker lives, so that the lease of an email lapses only when its worker has died. */
const emailLeaseMs = minuteMs;

/** How long a record is kept after the email, or after the moment that it announces. A job can be parked for less. */
const retentionMs = 30 * dayMs;

/** An email that is being sent, or was sent. The record has no recipients, only hashes of those that are done. */
export const SentEmailRecord = z.object({
  entity: z.literal("sentEmail"),
  ...leaseFields,
  doneTo: z._default(z.array(z.string()), []),
  sentAt: z.optional(z.string()),
  expiresAt: z.number(),
});

/**
 * Acquires the lease of an email, so that no other worker sends it meanwhile.
 * @param announced a later moment that the email announces, until which no repetition may be sent
 * @returns the hashes of its addresses that are done; undefined when it was sent before
 * @throws Error when another worker sends it. The job has to be retried, because that worker may fail
 */
export async function leaseEmail(emailId: string, announced?: Date): Promise<string[] | undefined> {
  const at = now();
  const last = Math.max(at.getTime(), announced?.getTime() ?? 0);
  const lease = newLease(at, emailLeaseMs);
  const expiresAt = epochSeconds(new Date(last + retentionMs));
  const leased = await updateItem(
    SentEmailRecord,
    acquireLease(keys.sentEmail(emailId), lease, at, {
      set: { entity: "sentEmail", expiresAt },
      requires: { absent: ["sentAt"] },
    }),
    { isOwn: hasLease(lease) },
  );
  if (leased.applied) return leased.item.doneTo;
  if (SentEmailRecord.parse(leased.found).sentAt !== undefined) return undefined;
  throw new Error("another worker holds this email");
}

export function addressHash(address: string): string {
  return createHash("sha256").update(address).digest("base64url");
}

/** Notes the addresses that are done, so that a later job for the others sends them nothing again. */
export async function noteDone(emailId: string, doneTo: string[]): Promise<void> {
  await updateItem(
    SentEmailRecord,
    updateOf(keys.sentEmail(emailId), { set: { doneTo } }, { present: ["pk"] }),
  );
}

/** Lets a later job send an email that had no reason now. */
export async function releaseEmail(emailId: string): Promise<void> {
  const key = keys.sentEmail(emailId);
  await updateItem(
    SentEmailRecord,
    updateOf(key, { remove: ["leaseToken", "leaseUntil"] }, { present: ["pk"], absent: ["sentAt"] }),
  );
}

/** Notes that an email was sent, after which it is not sent again. */
export async function noteSentEmail(emailId: string): Promise<void> {
  const key = keys.sentEmail(emailId);
  await updateItem(
    SentEmailRecord,
    updateOf(key, { set: { sentAt: now().toISOString() } }, { present: ["pk"] }),
  );
}
