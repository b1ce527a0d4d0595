import * as z from "zod";

import type { QueueName } from "../platform/access.ts";
import { hourMs, minuteMs, now } from "../platform/clock.ts";
import { keys } from "../platform/keys.ts";
import { log } from "../platform/log.ts";
import { enqueueAll } from "../platform/queue.ts";
import { deleteItem, queryItems, readItem, updateItem, type Put } from "../platform/table.ts";
import { MessageJob, secondsUntilDue, sendJob } from "./message-job.ts";
import type { MessageRecord } from "./message.ts";

/*
 * What is due later than a queue can hold waits here, in a bucket for each minute. A bucket is moved to the
 * queues a minute before it begins; by then nothing is added to it, for only what is due later than the
 * longest delay of a queue, 15 minutes, is put here at all.
 */

/** Each minute has this many partitions, so that a popular one takes more than 1,000 writes a second. */
const shardCount = 4;

/** Jobs that are read, queued and deleted together. */
const batchSize = 100;

/** Where the release begins on a table that it has never run on. */
const firstLookBackMs = hourMs;

/** How many minutes one run catches up on at the most; the next run goes on from there. */
const maxMinutesPerRun = 180;

const SendQueue = z.enum(["marketingSends", "transactionalSends"] satisfies QueueName[]);

const DueJobRecord = z.object({
  sk: z.string(),
  entity: z.literal("dueJob"),
  queue: SendQueue,
  dueAt: z.string(),
  job: MessageJob,
});

const ReleaseRecord = z.object({ entity: z.literal("release"), releasedThrough: z.string() });

/** The write that lets a scheduled message wait in the bucket of its minute. */
export function dueJob(message: MessageRecord): Put {
  if (message.scheduledAt === undefined) throw new Error("a message without a time is not due later");
  const { queue, job } = sendJob(message, 0);
  const dueAt = message.scheduledAt;
  return {
    put: {
      ...keys.dueJob(bucketName(new Date(dueAt), shardOf(message.id)), dueAt, message.id),
      entity: "dueJob",
      queue,
      dueAt,
      job: job.body,
    },
  };
}

/**
 * Moves the jobs of all buckets up to the next minute to their queues, from where the last run ended. A job
 * is deleted after it is queued: a crash in between queues it twice, which its claim makes harmless.
 * @returns how many jobs it moved
 */
export async function releaseDueJobs(): Promise<number> {
  const target = startOfMinute(now().getTime() + minuteMs);
  const progress = await readItem(ReleaseRecord, keys.release(), { consistent: true });
  const start =
    progress === undefined
      ? startOfMinute(target - firstLookBackMs)
      : Date.parse(progress.releasedThrough) + minuteMs;
  const end = Math.min(target, start + (maxMinutesPerRun - 1) * minuteMs);
  let released = 0;
  for (let minute = start; minute <= end; minute += minuteMs) {
    for (let shard = 0; shard < shardCount; shard += 1) {
      released += await releaseBucket(bucketName(new Date(minute), shard));
    }
    await rememberReleased(new Date(minute));
  }
  if (end < target) log.warn("due_jobs.behind", { count: (target - end) / minuteMs });
  return released;
}

async function releaseBucket(bucket: string): Promise<number> {
  const { pk } = keys.dueJob(bucket, "", "");
  let released = 0;
  for (;;) {
    const records = await queryItems(DueJobRecord, { pk, limit: batchSize, consistent: true });
    for (const queue of SendQueue.options) {
      const jobs = records
        .filter((record) => record.queue === queue)
        .map(({ job, dueAt }) => ({
          group: job.organizationId,
          body: job,
          delaySeconds: secondsUntilDue(dueAt),
        }));
      await enqueueAll(queue, jobs);
    }
    await Promise.all(records.map(async ({ sk }) => deleteItem({ pk, sk })));
    released += records.length;
    if (records.length < batchSize) return released;
  }
}

/** Progress only moves forward, also when two runs overlap. */
async function rememberReleased(minute: Date): Promise<void> {
  await updateItem(ReleaseRecord, {
    key: keys.release(),
    update: "SET entity = :entity, releasedThrough = :minute",
    condition: "attribute_not_exists(releasedThrough) OR releasedThrough < :minute",
    values: { ":entity": "release", ":minute": minute.toISOString() },
  });
}

function startOfMinute(timeMs: number): number {
  return Math.floor(timeMs / minuteMs) * minuteMs;
}

function bucketName(at: Date, shard: number): string {
  return `${new Date(startOfMinute(at.getTime())).toISOString().slice(0, "yyyy-mm-ddThh:mm".length)}#${shard}`;
}

/** Spreads messages over the shards by the last character of their id, which is random. */
function shardOf(messageId: string): number {
  return messageId.charCodeAt(messageId.length - 1) % shardCount;
}
