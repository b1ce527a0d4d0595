import * as z from "zod/mini";

import { trafficClass } from "../carriers/traffic-class.ts";
import { secondMs } from "../platform/clock.ts";
import { maxDelaySeconds, type QueuedJob } from "../platform/jobs/job.ts";
import type { QueueName } from "../platform/jobs/queue-names.ts";
import { scheduledJob, owedJob } from "../platform/jobs/scheduled-job.ts";
import type { Put } from "../platform/table/table.ts";
import type { MessageRecord } from "./record.ts";
import { RoutingFacts, routingFactsOf } from "./routing-facts.ts";

/** When a carrier's pace lets a message start, of which the carrier's time has been taken. */
const Slot = z.object({ carrier: z.string(), startsAt: z.string() });
export type Slot = z.infer<typeof Slot>;

/** What the send and refund queues carry: the message itself stays in the table. */
export const MessageJob = z.object({
  organizationId: z.string(),
  messageId: z.string(),
  slot: z.optional(Slot),
  /** Since when carriers have put the message off, in ISO 8601. Time that it waits for its slot does not count. */
  putOffSince: z.optional(z.string()),
  /** Of a send, where the message need not be read first; jobs of releases before 0.4 have none. */
  facts: z.optional(RoutingFacts),
});
export type MessageJob = z.infer<typeof MessageJob>;

/** What a job needs to know of its message. */
type Queueable = Pick<MessageRecord, "campaignId" | "id" | "messageType" | "organizationId">;

/** What a send job carries from one attempt to the next. */
type Progress = Pick<MessageJob, "facts" | "putOffSince" | "slot">;

/** The job that hands a message to a carrier. Marketing has a queue of its own, so that it never delays a one-time code. */
export function sendJob(message: Queueable, delaySeconds = 0, progress: Progress = {}): QueuedJob {
  const queue = trafficClass(message) === "marketing" ? "marketingSends" : "transactionalSends";
  return jobOn(queue, message, delaySeconds, progress);
}

/** The same for a message that nobody holds. Its job carries what a carrier is chosen by, where that is enough. */
export function sendJobWithFacts(
  message: MessageRecord,
  delaySeconds = 0,
  { slot }: Pick<Progress, "slot"> = {},
): QueuedJob {
  return sendJob(message, delaySeconds, { slot, facts: routingFactsOf(message) });
}

/** The job that returns the price of a message that failed. */
export function refundJob(message: Queueable): QueuedJob {
  return jobOn("refunds", message);
}

/**
 * The write that asks for a refund once more, some time later, whatever becomes of its first job. It is written with the
 * failure that owes the refund.
 */
export function owedRefund(message: Queueable, failedAt: Date): Put {
  return owedJob(`refund#${message.id}`, refundJob(message), failedAt);
}

function jobOn(
  queue: QueueName,
  { organizationId, id }: Queueable,
  delaySeconds = 0,
  progress: Progress = {},
): QueuedJob {
  const body: MessageJob = { organizationId, messageId: id, ...progress };
  return { queue, group: organizationId, body, delaySeconds };
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

/** The write that lets a message wait in the table for its time. */
export function waitingJob(message: MessageRecord): Put {
  return scheduledJob({ id: message.id, dueAt: message.scheduledAt ?? message.queuedAt }, sendJob(message));
}
