import { hourMs, minuteMs, now, secondMs } from "../platform/clock.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { updateItem } from "../platform/table/table.ts";
import type { Choice } from "./choose-carrier.ts";
import { sendJob, sendJobWithFacts, type MessageJob } from "./message-job.ts";
import { MessageRecord, noteWaiting } from "./record.ts";
import { secondsUntilExpired } from "./validity.ts";

/*
 * When the job of a message comes again, and how long carriers may put a message off.
 */

/** Waits before the next attempts when the carrier asks to come back; the last one is kept to. */
const retryDelaysSeconds = [1, 5, 30, 120] as const;
const longestRetryDelaySeconds = 120;

/**
 * A message that carriers put off for so long fails. The time runs from the first time that one puts it off, whatever
 * the message waited for before: its schedule, a pause, its turn in a large campaign.
 */
const maxRescheduleMs = 6 * hourMs;

/** A message that waits so long for its turn is noted to have its job, before the reconciler takes it for stranded. */
const notedAfterMs = 5 * minuteMs;

/** Whether carriers have put a message off for as long as they may. */
export function isRescheduledTooLong({ putOffSince }: MessageJob): boolean {
  return putOffSince !== undefined && now().getTime() - Date.parse(putOffSince) > maxRescheduleMs;
}

/** After how many seconds a carrier is asked again: later after each attempt, and no sooner than the carrier asks for. */
export function rescheduleSeconds({ attempts }: MessageRecord, retryAfterSeconds: number): number {
  return Math.max(retryDelaysSeconds[attempts - 1] ?? longestRetryDelaySeconds, retryAfterSeconds);
}

/** A later start for a job. */
type Wait = Omit<Extract<Choice, { kind: "wait" }>, "kind">;

/**
 * The job of a message that starts later. Without a slot the message is put off. While it waits for its slot, the time
 * for which it has been put off stands still.
 */
export function laterJob(message: MessageRecord, wait: Wait, { putOffSince }: MessageJob): QueuedJob {
  const { slot } = wait;
  // At its expiry it fails, whatever it waits for.
  const delaySeconds = Math.min(wait.delaySeconds, secondsUntilExpired(message));
  if (slot === undefined) {
    return sendJob(message, delaySeconds, { putOffSince: putOffSince ?? now().toISOString() });
  }
  if (putOffSince === undefined) return sendJobWithFacts(message, delaySeconds, { slot });
  const since = new Date(Date.parse(putOffSince) + delaySeconds * secondMs).toISOString();
  return sendJob(message, delaySeconds, { slot, putOffSince: since });
}

/** Gives the job of a message that nobody holds a later start. */
export async function reschedule(message: MessageRecord, wait: Wait, job: MessageJob): Promise<void> {
  const waitsUntilMs = now().getTime() + wait.delaySeconds * secondMs;
  const dueAt = message.scheduledAt ?? message.queuedAt;
  if (message.attempts === 0 && waitsUntilMs - Date.parse(dueAt) > notedAfterMs) {
    // Refused where another sender has it, which then sees to its job.
    await updateItem(MessageRecord, noteWaiting(message));
  }
  await enqueue(laterJob(message, wait, job));
}
