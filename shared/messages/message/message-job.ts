import * as z from "zod/mini";

import { trafficClass } from "../../carriers/traffic-class.ts";
import { secondMs } from "../../platform/clock.ts";
import { maxDelaySeconds, type QueuedJob } from "../../platform/jobs/job.ts";
import { scheduledJob, owedJob } from "../../platform/jobs/scheduled-job.ts";
import type { QueueName } from "../../platform/queue-names.ts";
import type { Key } from "../../platform/table/keys.ts";
import type { Put } from "../../platform/table/write.ts";
import type { MessageRecord } from "./record.ts";
import { RoutingFacts, routingFactsOf } from "./routing-facts.ts";

/** A reserved start: when the throughput of a carrier lets a message start. */
const ReservedStart = z.object({ carrier: z.string(), startsAt: z.string() });
export type ReservedStart = z.infer<typeof ReservedStart>;

const EntryKey = z.custom<Key<"ledgerEntry">>((value) => {
  const { pk, sk } = Object(value);
  return typeof pk === "string" && typeof sk === "string";
});

/** The content of the send and refund queues: the message itself stays in the table. */
export const MessageJob = z.object({
  organizationId: z.string(),
  messageId: z.string(),
  reservedStart: z.optional(ReservedStart),
  /** Since when carriers have delayed the message, in ISO 8601. Time that it waits for its reserved start does not count. */
  rescheduledSince: z.optional(z.string()),
  /** Present if a send need not read the message first. */
  facts: z.optional(RoutingFacts),
  /** The ledger entry of the message, if the sender has to check that the message is paid. */
  entry: z.optional(EntryKey),
  /** How often the job has waited for that entry. */
  waits: z.optional(z.int()),
});
export type MessageJob = z.infer<typeof MessageJob>;

/** The fields of a message that its job needs. */
type Queueable = Pick<MessageRecord, "campaignId" | "id" | "messageType" | "organizationId">;

/** The state of a send job from one attempt to the next. */
type Progress = Pick<MessageJob, "entry" | "facts" | "rescheduledSince" | "reservedStart" | "waits">;

/** The job that submits a message. Marketing has a queue of its own, so that it never delays a one-time code. */
export function sendJob(message: Queueable, delaySeconds = 0, progress: Progress = {}): QueuedJob {
  const queue = trafficClass(message) === "marketing" ? "marketingSends" : "transactionalSends";
  return jobOn(queue, message, delaySeconds, progress);
}

/** The send job of a message that no sender holds. It has the routing facts, if these are enough. */
export function sendJobWithFacts(
  message: MessageRecord,
  delaySeconds = 0,
  { reservedStart }: Pick<Progress, "reservedStart"> = {},
): QueuedJob {
  return sendJob(message, delaySeconds, { reservedStart, facts: routingFactsOf(message) });
}

/** The job that returns the price of a message that failed. */
export function refundJob(message: Queueable): QueuedJob {
  return jobOn("refunds", message);
}

/**
 * The write that later requests a refund once more, whatever the outcome of its first job. It is written with the
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
 * Whether a message is due too late for a queue to hold it, so that it waits in the table. Only the message itself decides
 * this, so that all callers agree.
 */
export function waitsInTable({ scheduledAt, queuedAt }: MessageRecord): boolean {
  return (
    scheduledAt !== undefined && Date.parse(scheduledAt) - Date.parse(queuedAt) > maxDelaySeconds * secondMs
  );
}

/** The write that lets a message wait in the table until it is due. */
export function waitingJob(message: MessageRecord): Put {
  return scheduledJob({ id: message.id, dueAt: message.scheduledAt ?? message.queuedAt }, sendJob(message));
}
