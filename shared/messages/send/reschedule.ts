import { hourMs, minuteMs, now, secondMs } from "../../platform/clock.ts";
import type { QueuedJob } from "../../platform/jobs/job.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { updateItem } from "../../platform/table/write.ts";
import { sendJob, sendJobWithFacts, type MessageJob } from "../message/message-job.ts";
import { MessageRecord } from "../message/record.ts";
import { noteWaiting } from "../message/transitions.ts";
import { secondsUntilExpired } from "../message/validity.ts";
import type { Choice } from "./choose-carrier.ts";

/*
 * When the job of a message returns, and for how long carriers may delay a message.
 */

/** The delays before further attempts of a message that no carrier has accepted. The last one repeats. */
const retryDelaysSeconds = [1, 5, 30, 120] as const;
const longestRetryDelaySeconds = 120;

/**
 * How long carriers may delay a message before it fails. The time runs from the first delay by a carrier. Earlier waiting
 * does not count: for its schedule, a pause, or throughput in a large campaign.
 */
const maxRescheduleMs = 6 * hourMs;

/** The wait after which a message is noted to have a job, before the reconciler would consider it stranded. */
const notedAfterMs = 5 * minuteMs;

/** Whether carriers have delayed a message for the longest permitted time. */
export function isRescheduledTooLong({ rescheduledSince }: MessageJob): boolean {
  return rescheduledSince !== undefined && now().getTime() - Date.parse(rescheduledSince) > maxRescheduleMs;
}

/** Returns the delay before the next attempt: longer after each attempt, and at least the one that the carrier requests. */
export function rescheduleSeconds({ attempts }: MessageRecord, retryAfterSeconds: number): number {
  return Math.max(retryDelaysSeconds[attempts - 1] ?? longestRetryDelaySeconds, retryAfterSeconds);
}

/** A later start for a job. */
type Wait = Omit<Extract<Choice, { kind: "wait" }>, "kind">;

/**
 * Returns the job of a message with a later start. Without a reserved start, the wait counts as a delay by carriers. The wait for
 * it does not count.
 */
export function laterJob(message: MessageRecord, wait: Wait, { rescheduledSince }: MessageJob): QueuedJob {
  const { reservedStart } = wait;
  // At its expiry it fails, whatever it waits for.
  const delaySeconds = Math.min(wait.delaySeconds, secondsUntilExpired(message));
  if (reservedStart === undefined) {
    return sendJob(message, delaySeconds, { rescheduledSince: rescheduledSince ?? now().toISOString() });
  }
  if (rescheduledSince === undefined) return sendJobWithFacts(message, delaySeconds, { reservedStart });
  const since = new Date(Date.parse(rescheduledSince) + delaySeconds * secondMs).toISOString();
  return sendJob(message, delaySeconds, { reservedStart, rescheduledSince: since });
}

/** Adds a job with a later start for a message that no sender holds. */
export async function reschedule(message: MessageRecord, wait: Wait, job: MessageJob): Promise<undefined> {
  const waitsUntilMs = now().getTime() + wait.delaySeconds * secondMs;
  const dueAt = message.scheduledAt ?? message.queuedAt;
  if (message.attempts === 0 && waitsUntilMs - Date.parse(dueAt) > notedAfterMs) {
    // Rejected if another sender holds it, which then takes care of its job.
    await updateItem(MessageRecord, noteWaiting(message));
  }
  await enqueue(laterJob(message, wait, job));
}
