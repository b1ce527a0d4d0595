import * as z from "zod/mini";

import { idSchema } from "../../api/contract/primitives.ts";
import { minuteMs, now } from "../../platform/clock.ts";
import { momentOf } from "../../platform/ids.ts";
import {
  AuditEntryRecord,
  Ending,
  writeAuditEntry,
  writeAuditOutcome,
} from "../../platform/table/audit-log.ts";
import { digestOfStored, noticeLateEntry, patienceMs, restMs } from "./seals.ts";

/*
 * The entries of operators' commands. The operators may only queue them, and one function writes them. So no one can write an
 * entry in the name of another person: SQS names the sender of each job.
 */

const { action, subject, before } = AuditEntryRecord.shape;

/** How far a wrong clock may be ahead. The time in an ID may be long before its job, which repeats an entry or was parked. */
const maxAheadMs = 15 * minuteMs;

/** From these ages, the seals may pass an entry before it is written, and one that is there before its outcome is written. */
const lateMs = restMs / 2;
const lateOutcomeMs = patienceMs / 2;

export const OperatorEntry = z.object({
  id: idSchema("aud"),
  // Any other text could name the outcomes of a log.
  event: z.object({ organizationId: z.optional(idSchema("org")), action, subject, before }),
  /** The ARN that the sender has read from AWS. */
  claimedArn: z.string(),
  /** Absent before the action. The job with the outcome repeats the entry, because it may arrive first. */
  ending: z.optional(Ending),
});
export type OperatorEntry = z.infer<typeof OperatorEntry>;

/**
 * Writes an entry and its outcome. Both can be repeated. If the seals may have passed them, for example because the job was among
 * the dead letters, another entry notes that.
 * @param senderId from SQS
 * @param sentAt from SQS; the time of the entry, because the sender has chosen the one in the ID
 * @throws Error when it could not be written, another person has written an entry with its ID, or the ID has a later time
 */
export async function writeOperatorEntry(
  { id, event, claimedArn, ending }: OperatorEntry,
  senderId: string,
  sentAt: Date,
): Promise<void> {
  const actor = { type: "operator", identity: senderId, claimedArn } as const;
  const isOfNow = momentOf(id).getTime() <= sentAt.getTime() + maxAheadMs;
  if (!isOfNow) throw new Error(`the time in ${id} is after that of its job`);
  const ageMs = now().getTime() - momentOf(id).getTime();
  // A long command ends hours after its entry, for whose outcome the seals wait.
  const isAwaited =
    ageMs > lateMs &&
    ageMs <= lateOutcomeMs &&
    ending !== undefined &&
    (await digestOfStored(event.organizationId, id)) !== undefined;
  const entry = await writeAuditEntry({ ...event, actor }, id, sentAt);
  if (ending !== undefined) await writeAuditOutcome(entry, ending);
  if (ageMs > lateMs && !isAwaited) await noticeLateEntry(entry);
}
