import * as z from "zod/mini";

import { idSchema } from "../../api/contract/primitives.ts";
import {
  AuditEntryRecord,
  Ending,
  writeAuditEntry,
  writeAuditOutcome,
} from "../../platform/table/audit-log.ts";

/*
 * The entries of operators' commands. The operators may only queue them, and one function writes them. So no one can write an
 * entry in the name of another person: SQS names the sender of each job.
 */

const { organizationId, action, subject, before } = AuditEntryRecord.shape;

export const OperatorEntry = z.object({
  id: idSchema("aud"),
  event: z.object({ organizationId, action, subject, before }),
  /** The ARN that the sender has read from AWS. */
  claimedArn: z.string(),
  /** Absent before the action. The job with the outcome repeats the entry, because it may arrive first. */
  ending: z.optional(Ending),
});
export type OperatorEntry = z.infer<typeof OperatorEntry>;

/**
 * Writes an entry and its outcome. Both can be repeated.
 * @param senderId from SQS
 * @throws Error when it could not be written, or another person has written an entry with its ID
 */
export async function writeOperatorEntry(
  { id, event, claimedArn, ending }: OperatorEntry,
  senderId: string,
): Promise<void> {
  const actor = { type: "operator", identity: senderId, claimedArn } as const;
  const entry = await writeAuditEntry({ ...event, actor }, id);
  if (ending !== undefined) await writeAuditOutcome(entry, ending);
}
