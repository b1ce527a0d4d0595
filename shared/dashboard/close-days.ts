import { lookAtDayAgain } from "../messages/counts.ts";
import { recount, type Look, type Recount } from "../messages/recount.ts";
import { dayMs, dayOf, hourMs, minuteMs, now, secondMs } from "../platform/clock.ts";
import { workOnAgenda } from "../platform/jobs/agenda.ts";
import { log } from "../platform/log.ts";
import type { Key } from "../platform/table/keys.ts";

/** A day that still has a scheduled message is counted again when so much time has passed. */
const recountIntervalMs = dayMs - hourMs;

/** A run ends after this, with the function's time-out still ahead; the next run goes on with what is left. */
const runTimeMs = 4 * minuteMs + 30 * secondMs;

/**
 * Counts the messages of the days that are over, of the organizations of one shard, and closes those days whose messages
 * have all come to their end: from then on what the dashboard shows of them is exact.
 * @returns how many days it closed
 */
export async function closeDays(shard: number): Promise<number> {
  const deadline = now().getTime() + runTimeMs;
  const isTimeLeft = (): boolean => now().getTime() < deadline;
  let closed = 0;
  await workOnAgenda({
    name: "CLOSE-DAY",
    shard,
    isTimeLeft,
    visit: async (key) => {
      if (await closeDaySafely(key, isTimeLeft)) closed += 1;
    },
  });
  return closed;
}

/** A day that cannot be counted now must not keep the others from being closed. */
async function closeDaySafely(key: Key, isTimeLeft: () => boolean): Promise<boolean> {
  const [, organizationId = "", part = ""] = key.pk.split("#");
  try {
    const look = await countDay({ organizationId, parts: [part], key }, isTimeLeft);
    if (look === "open") {
      await lookAtDayAgain(key, new Date(now().getTime() + recountIntervalMs).toISOString());
    }
    return look === "closed";
  } catch (error) {
    log.error("day.not_closed", { organizationId, error });
    return false;
  }
}

/** Counts a day's messages, in as many looks as it takes and as there is time for. */
async function countDay(
  counter: Pick<Recount, "key" | "organizationId" | "parts">,
  isTimeLeft: () => boolean,
): Promise<Look> {
  const day = counter.key.sk.slice("DAY#".length);
  const from = new Date(`${day}T00:00:00.000Z`);
  const to = new Date(from.getTime() + dayMs);
  let look: Look = "unfinished";
  while (look === "unfinished" && isTimeLeft()) {
    look = await recount({ ...counter, from, to, takes: ({ queuedAt }) => dayOf(queuedAt) === day, day });
  }
  return look;
}
