import * as z from "zod/mini";

import { minuteMs, now } from "../clock.ts";
import { keys } from "../table/keys.ts";
import type { Put } from "../table/table.ts";
import type { QueuedJob } from "./job.ts";
import { queueNames } from "./queue-names.ts";
import { shardOf } from "./shards.ts";

/*
 * What is due later than a queue can hold waits in the table, in a bucket for each minute. A bucket is moved to the
 * queues a minute before it begins; by then nothing is added to it, for only what is due later than the
 * longest delay of a queue, 15 minutes, is put here at all. Each minute has a partition for each shard, so that a
 * popular one takes more than 1,000 writes a second.
 */

export const DueJobRecord = z.object({
  sk: z.string(),
  entity: z.literal("dueJob"),
  queue: z.enum(queueNames),
  dueAt: z.string(),
  group: z.string(),
  body: z.unknown(),
});

/**
 * The write that lets a job wait in the bucket of its minute. The caller makes sure that it is due later than
 * `maxDelaySeconds`: what is due sooner belongs on the queue itself.
 * @param due `id` tells the job from others of the same moment; `dueAt` is ISO 8601 in UTC
 */
export function dueJob(
  { id, dueAt }: { readonly id: string; readonly dueAt: string },
  { queue, group, body }: QueuedJob,
): Put {
  return {
    put: {
      ...keys.dueJob(bucketName(new Date(dueAt), shardOf(id)), dueAt, id),
      entity: "dueJob",
      queue,
      dueAt,
      group,
      body,
    },
  };
}

/** Later than any queue can hold a job, as what waits in the table has to be. */
const owedAfterMs = 16 * minuteMs;

/**
 * The write that queues a job once more, some time later, whatever becomes of the one that is queued now. It belongs into
 * the transaction from which the job follows.
 */
export function owedJob(id: string, job: QueuedJob, since = now()): Put {
  return dueJob({ id, dueAt: new Date(since.getTime() + owedAfterMs).toISOString() }, job);
}

/** The bucket of a minute in one of its partitions. */
export function bucketName(at: Date, shard: number): string {
  return `${new Date(startOfMinute(at.getTime())).toISOString().slice(0, "yyyy-mm-ddThh:mm".length)}#${shard}`;
}

export function startOfMinute(timeMs: number): number {
  return Math.floor(timeMs / minuteMs) * minuteMs;
}
