import { dayOf, readDayCounts, recount, type CountsRecord } from "../messages/counts.ts";
import { dayMs, hourMs, minuteMs, now, secondMs } from "../platform/clock.ts";
import { keys } from "../platform/keys.ts";
import { log } from "../platform/log.ts";
import { listWallets } from "../wallet/wallet.ts";

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
 * from then on what the dashboard shows of them is exact.
 * @returns how many days it closed
 */
export async function closeDays(): Promise<number> {
  const deadline = now().getTime() + runTimeMs;
  let closed = 0;
  for await (const organizationId of listWallets()) {
    for (const { sk } of await openDays(organizationId)) {
      if (now().getTime() > deadline) {
        log.warn("days.not_all_closed", { count: closed });
        return closed;
      }
      if (await closeDaySafely(organizationId, sk.slice("DAY#".length))) closed += 1;
    }
  }
  return closed;
}

async function openDays(organizationId: string): Promise<CountsRecord[]> {
  const at = now().getTime();
  const counts = await readDayCounts(organizationId, {
    from: dayOf(new Date(at - maxDaysBack * dayMs).toISOString()),
    to: dayOf(new Date(at - graceMs - dayMs).toISOString()),
    limit: maxDaysBack,
  });
  return counts.filter(
    ({ closedAt, countedAt }) =>
      closedAt === undefined && (countedAt === undefined || at - Date.parse(countedAt) > recountIntervalMs),
  );
}

/** A day that cannot be counted now must not keep the others from being closed. */
async function closeDaySafely(organizationId: string, day: string): Promise<boolean> {
  try {
    return await closeDay(organizationId, day);
  } catch (error) {
    log.error("day.not_closed", { organizationId, error });
    return false;
  }
}

async function closeDay(organizationId: string, day: string): Promise<boolean> {
  const from = new Date(`${day}T00:00:00.000Z`);
  return recount({
    organizationId,
    key: keys.dayCounts(organizationId, day),
    from,
    to: new Date(from.getTime() + dayMs),
    takes: ({ queuedAt }) => dayOf(queuedAt) === day,
  });
}
