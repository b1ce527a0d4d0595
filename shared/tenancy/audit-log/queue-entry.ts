import { newId } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { auditLogOf } from "../../platform/table/audit-log.ts";
import type { OperatorEntry } from "./operator-entries.ts";

/** Queues a new entry. @throws Error when the queue has not accepted it, so that the action must not happen */
export async function queueEntry(entry: Pick<OperatorEntry, "claimedArn" | "event">): Promise<OperatorEntry> {
  const named = { id: newId("aud"), ...entry };
  await queueOutcome(named);
  return named;
}

/** Queues the outcome of an action. */
export async function queueOutcome(entry: OperatorEntry): Promise<void> {
  await enqueue({ queue: "auditEntries", group: auditLogOf(entry.event.organizationId), body: entry });
}
