import { rescheduleDay } from "../../messages/counts/counts.ts";
import { messagesOfDay, recount, type Look } from "../../messages/counts/recount.ts";
import { dayMs, hourMs, minuteMs, now, secondMs } from "../../platform/clock.ts";
import { workOnPending } from "../../platform/jobs/pending-work.ts";
import { log } from "../../platform/log.ts";
import type { Key } from "../../platform/table/keys.ts";
import { shardOfCounter, type DayShard } from "../../platform/table/shards.ts";

/** A day with a message that is still scheduled is counted again after this time. */
const recountIntervalMs = dayMs - hourMs;

/** A run ends after this time, before the function's time-out. The next run continues with the rest. */
const runTimeMs = 4 * minuteMs + 30 * secondMs;

/**
 * Counts the messages of past days, for the organizations of one shard. It closes the days whose messages are all
 * final: from then on the dashboard's counts for them are exact.
 * @returns the number of closed days
 */
export async function closeDays(shard: number): Promise<number> {
  const deadline = now().getTime() + runTimeMs;
  const isTimeLeft = (): boolean => now().getTime() < deadline;
  let closed = 0;
  await workOnPending({
    name: "CLOSE-DAY",
    shard,
    isTimeLeft,
    visit: async (key) => {
      if (await closeDaySafely(key, isTimeLeft)) closed += 1;
    },
  });
  return closed;
}

/** Closes a day. An error must not keep the other days from being closed. */
async function closeDaySafely(key: Key<"counts">, isTimeLeft: () => boolean): Promise<boolean> {
  const shard = shardOfCounter(key);
  try {
    const look = await countDay(shard, isTimeLeft);
    if (look === "open") {
      await rescheduleDay(key, new Date(now().getTime() + recountIntervalMs).toISOString());
    }
    return look === "closed";
  } catch (error) {
    log.error("day.not_closed", { organizationId: shard.organizationId, error });
    return false;
  }
}

/** Counts a day's messages in several passes, until it has all of them or the time is over. */
async function countDay(shard: DayShard, isTimeLeft: () => boolean): Promise<Look> {
  let look: Look = "unfinished";
  while (look === "unfinished" && isTimeLeft()) look = await recount(messagesOfDay(shard));
  return look;
}
