import * as z from "zod/mini";

import { minuteMs, now } from "../clock.ts";
import { queueNames } from "../queue-names.ts";
import { keys } from "../table/keys.ts";
import { type Put, putOf } from "../table/write.ts";
import type { QueuedJob } from "./job.ts";
import { shardOf } from "./shards.ts";

/*
 * Scheduled jobs. A job that is due later than a queue can hold it waits in the table, in the bucket of its minute. The
 * scheduler moves a bucket to the queues a minute before it begins. Then the bucket cannot change, because new jobs in the table
 * are due after the longest delay of a queue, 15 minutes. Each minute has a partition for each shard, so that a popular minute
 * accepts more than 1,000 writes a second.
 */

export const ScheduledJobRecord = z.object({
  sk: z.string(),
  entity: z.literal("dueJob"),
  queue: z.enum(queueNames),
  dueAt: z.string(),
  group: z.string(),
  body: z.unknown(),
});

/**
 * Returns the write that stores a job in the bucket of its minute. The job must be due later than `maxDelaySeconds`: earlier
 * jobs belong on the queue.
 * @param due `id` distinguishes the job from others of the same moment; `dueAt` is ISO 8601 in UTC
 */
export function scheduledJob(
  { id, dueAt }: { readonly id: string; readonly dueAt: string },
  { queue, group, body }: QueuedJob,
): Put {
  return putOf(keys.scheduledJob(bucketName(new Date(dueAt), shardOf(id)), dueAt, id), {
    entity: "dueJob",
    queue,
    dueAt,
    group,
    body,
  });
}

/** The shortest time until a job of the table is due: later than any queue can hold it. */
export const minScheduledMs = 16 * minuteMs;

/**
 * Returns the write that queues a job again later, in case the copy that is queued now is lost. It belongs into the
 * transaction that causes the job.
 */
export function owedJob(id: string, job: QueuedJob, since = now()): Put {
  return scheduledJob({ id, dueAt: new Date(since.getTime() + minScheduledMs).toISOString() }, job);
}

/** Returns the bucket of a minute in one of its shards. */
export function bucketName(at: Date, shard: number): string {
  return `${new Date(startOfMinute(at.getTime())).toISOString().slice(0, "yyyy-mm-ddThh:mm".length)}#${shard}`;
}

export function startOfMinute(timeMs: number): number {
  return Math.floor(timeMs / minuteMs) * minuteMs;
}
