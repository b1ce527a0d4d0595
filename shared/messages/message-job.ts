import * as z from "zod";

import { secondMs } from "../platform/clock.ts";
import type { QueueName } from "../platform/jobs/queue-names.ts";
import { maxDelaySeconds, type QueuedJob } from "../platform/jobs/queue.ts";
import { queueOf, type MessageRecord } from "./record.ts";

/** What the send and refund queues carry: the message itself stays in the table. */
export const MessageJob = z.object({ organizationId: z.string(), messageId: z.string() });
export type MessageJob = z.infer<typeof MessageJob>;

/** The job of a message, on the queue that it belongs on. */
export function sendJob(
  message: MessageRecord,
  delaySeconds: number,
): { readonly queue: QueueName; readonly job: QueuedJob } {
  const body: MessageJob = { organizationId: message.organizationId, messageId: message.id };
  return { queue: queueOf(message), job: { group: message.organizationId, body, delaySeconds } };
}

/**
 * Whether a message is due too late for a queue to hold it, and waits in the table. It is decided by what the
 * message itself says, so that all who ask get the same answer.
 */
export function waitsInTable({ scheduledAt, queuedAt }: MessageRecord): boolean {
  return (
    scheduledAt !== undefined && Date.parse(scheduledAt) - Date.parse(queuedAt) > maxDelaySeconds * secondMs
  );
}
