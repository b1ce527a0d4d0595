import { dayOf, readCounts, recount, type CountsRecord, type Look } from "../messages/counts.ts";
import { dayMs, hourMs, minuteMs, now, secondMs } from "../platform/clock.ts";
import { log } from "../platform/log.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import { sweepWallets } from "../wallet/sweep.ts";

/** A day is counted when it has been over for so long: by then its last messages have come to their end. */
const graceMs = hourMs;

/** A day that still has a scheduled message is counted again when so much time has passed. */
const recountIntervalMs = dayMs - hourMs;

/** Days back that are looked at: a message is scheduled 30 days ahead at the most. */
const maxDaysBack = 32;

/** A run ends after this, with the function's time-out still ahead; the next run finds most days closed. */
const runTimeMs = 4 * minuteMs + 30 * secondMs;

/**
 * Counts the messages of the days that are over, and closes those whose messages have all come to their end:
 * from then on what the dashboard shows of them is exact. A run that is out of time is followed by one that goes
 * on where it ended.
 * @returns how many days it closed
 */
export async function closeDays(): Promise<number> {
  const deadline = now().getTime() + runTimeMs;
  const isTimeLeft = (): boolean => now().getTime() < deadline;
  let closed = 0;
  await sweepWallets({
    name: "close-days",
    isTimeLeft,
    visit: async (organizationId) => {
      closed += await closeDaysSafely(organizationId, isTimeLeft);
    },
  });
  return closed;
}

/** An organisation whose days cannot be counted now must not keep the others from having theirs closed. */
async function closeDaysSafely(organizationId: string, isTimeLeft: () => boolean): Promise<number> {
  let closed = 0;
  try {
    for (const { sk } of await openDays(organizationId)) {
      const look = await lookAtDay(organizationId, sk.slice("DAY#".length), isTimeLeft);
      if (look === "closed") closed += 1;
    }
  } catch (error) {
    log.error("days.not_closed", { organizationId, error });
  }
  return closed;
}

async function openDays(organizationId: string): Promise<CountsRecord[]> {
  const at = now().getTime();
  const dayKey = (timeMs: number): Key =>
    keys.dayCounts(organizationId, dayOf(new Date(timeMs).toISOString()));
  const counts = await readCounts({
    from: dayKey(at - maxDaysBack * dayMs),
    to: dayKey(at - graceMs - dayMs),
    limit: maxDaysBack,
  });
  return counts.filter(
    ({ closedAt, lookedAt, unfinished }) =>
      closedAt === undefined &&
      (lookedAt === undefined || unfinished !== undefined || at - Date.parse(lookedAt) > recountIntervalMs),
  );
}

/** Counts a day's messages, in as many looks as it takes and as there is time for. */
async function lookAtDay(organizationId: string, day: string, isTimeLeft: () => boolean): Promise<Look> {
  const from = new Date(`${day}T00:00:00.000Z`);
  let look: Look = "unfinished";
  while (look === "unfinished" && isTimeLeft()) {
    look = await recount({
      organizationId,
      key: keys.dayCounts(organizationId, day),
      from,
      to: new Date(from.getTime() + dayMs),
      takes: ({ queuedAt }) => dayOf(queuedAt) === day,
    });
  }
  return look;
}
