import * as z from "zod";

import { hourMs, minuteMs, now } from "../clock.ts";
import { log } from "../log.ts";
import { keys } from "../table/keys.ts";
import { deleteItem, queryItems, readItem, updateItem, type Put } from "../table/table.ts";
import { updateOf } from "../table/update.ts";
import { queueNames } from "./queue-names.ts";
import { enqueueAll, secondsUntil, type QueuedJob } from "./queue.ts";

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

const DueJobRecord = z.object({
  sk: z.string(),
  entity: z.literal("dueJob"),
  queue: z.enum(queueNames),
  dueAt: z.string(),
  group: z.string(),
  body: z.unknown(),
});

const ReleaseRecord = z.object({ entity: z.literal("release"), releasedThrough: z.string() });

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
  let after: string | undefined;
  for (;;) {
    const items = await queryItems(z.looseObject({ sk: z.string() }), {
      pk,
      after,
      limit: batchSize,
      consistent: true,
    });
    const records = items.flatMap((item) => readable(item));
    await enqueueAll(
      records.map(({ queue, group, body, dueAt }) => ({
        queue,
        group,
        body,
        delaySeconds: secondsUntil(dueAt),
      })),
    );
    await Promise.all(records.map(async ({ sk }) => deleteItem({ pk, sk })));
    released += records.length;
    if (items.length < batchSize) return released;
    after = items.at(-1)?.sk;
  }
}

/** A record that cannot be read stays where it is and must not keep the others from their time. */
function readable(item: { readonly sk: string }): z.infer<typeof DueJobRecord>[] {
  const record = DueJobRecord.safeParse(item);
  if (record.success) return [record.data];
  log.error("due_job.unreadable", { error: record.error });
  return [];
}

/** Progress only moves forward, also when two runs overlap. */
async function rememberReleased(minute: Date): Promise<void> {
  const releasedThrough = minute.toISOString();
  await updateItem(
    ReleaseRecord,
    updateOf(
      keys.release(),
      { set: { entity: "release", releasedThrough } },
      { where: "attribute_not_exists(#releasedThrough) OR #releasedThrough < :releasedThrough" },
    ),
  );
}

function startOfMinute(timeMs: number): number {
  return Math.floor(timeMs / minuteMs) * minuteMs;
}

function bucketName(at: Date, shard: number): string {
  return `${new Date(startOfMinute(at.getTime())).toISOString().slice(0, "yyyy-mm-ddThh:mm".length)}#${shard}`;
}

/** Spreads jobs over the shards by the last character of their id, which is random. */
function shardOf(id: string): number {
  return id.charCodeAt(id.length - 1) % shardCount;
}
