import * as z from "zod/mini";

import { minuteMs, now } from "../clock.ts";
import { log } from "../log.ts";
import { keys, type Key } from "../table/keys.ts";
import { findItem, itemsOf, queryRows } from "../table/read.ts";
import { transact } from "../table/transact.ts";
import { deleteItem, deleteOf, putUnchecked, updateItem, updateOf } from "../table/write.ts";
import { secondsUntil } from "./job.ts";
import { enqueueAll } from "./queue.ts";
import { bucketName, ScheduledJobRecord, startOfMinute } from "./scheduled-job.ts";

/** Jobs that are read, queued and deleted together. */
const batchSize = 100;

/**
 * How far the first run on a table looks back. A job in the table is due at least 15 minutes after its write, so the first run
 * may be half an hour late.
 */
const firstLookBackMs = 15 * minuteMs;

/** The delay of a job that this version cannot read, such as one for a queue of a newer version. */
const unreadableRetryMs = 15 * minuteMs;

/** The most minutes that one run catches up on. The next run continues from there. */
const maxMinutesPerRun = 180;

export const ReleaseRecord = z.object({ entity: z.literal("release"), releasedThrough: z.string() });
type ReleaseRecord = z.infer<typeof ReleaseRecord>;

/**
 * Moves the jobs of one shard's buckets to their queues, from the end of the last run up to the next minute. A job is deleted
 * after it is queued. A crash in between queues it twice, which the lease of its work makes harmless.
 * @returns how many jobs it moved
 */
export async function releaseScheduledJobs(shard: number): Promise<number> {
  const target = startOfMinute(now().getTime() + minuteMs);
  const progress = await findProgress(shard);
  const start =
    progress === undefined
      ? startOfMinute(target - firstLookBackMs)
      : Date.parse(progress.releasedThrough) + minuteMs;
  const end = Math.min(target, start + (maxMinutesPerRun - 1) * minuteMs);
  let released = 0;
  for (let minute = start; minute <= end; minute += minuteMs) {
    released += await releaseBucket(new Date(minute), shard);
  }
  // If a run ends before this, its buckets are empty, and the next run only reads them again.
  if (start <= end) await rememberReleased(shard, new Date(end));
  if (end < target) log.warn("due_jobs.behind", { count: (target - end) / minuteMs });
  return released;
}

async function findProgress(shard: number): Promise<ReleaseRecord | undefined> {
  const own = await findItem(ReleaseRecord, keys.release(shard), { consistent: true });
  // Older releases stored one progress for all shards.
  return own ?? findItem(ReleaseRecord, { ...keys.release(shard), sk: "RELEASE" }, { consistent: true });
}

async function releaseBucket(minute: Date, shard: number): Promise<number> {
  const { pk } = keys.scheduledJob(bucketName(minute, shard), "", "");
  let released = 0;
  let after: string | undefined;
  for (;;) {
    const rows = await queryRows(ScheduledJobRecord, {
      pk,
      after,
      limit: batchSize,
      consistent: true,
    });
    const records = itemsOf(rows);
    const unreadable = rows.filter(({ item }) => item === undefined);
    await enqueueAll(
      records.map(({ queue, group, body, dueAt }) => ({
        queue,
        group,
        body,
        delaySeconds: secondsUntil(dueAt),
      })),
    );
    await Promise.all([
      ...records.map(async ({ sk }) => deleteItem({ pk, sk })),
      ...unreadable.map(async ({ key: { sk } }) => postpone({ pk, sk }, shard)),
    ]);
    released += records.length;
    if (rows.length < batchSize) return released;
    after = rows.at(-1)?.key.sk;
  }
}

/**
 * Moves a job to a later bucket. No run returns to a bucket that was released, so the job must not stay in it. Newer code that
 * can read the job shares its progress with this code.
 */
async function postpone(key: Key<"scheduledJob">, shard: number): Promise<void> {
  const job = await findItem(z.looseObject({}), key, { consistent: true });
  if (job === undefined) return;
  const { pk } = keys.scheduledJob(bucketName(new Date(now().getTime() + unreadableRetryMs), shard), "", "");
  await transact({ before: deleteOf(key), after: putUnchecked({ pk, sk: key.sk }, job) });
}

/** Stores the progress, which only moves forward, also when two runs overlap. */
async function rememberReleased(shard: number, minute: Date): Promise<void> {
  const releasedThrough = minute.toISOString();
  await updateItem(
    ReleaseRecord,
    updateOf(
      keys.release(shard),
      { set: { entity: "release", releasedThrough } },
      { ifPresent: { below: { releasedThrough } } },
    ),
  );
}
