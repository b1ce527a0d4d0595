import { tallyOfDay } from "../../messages/counts/accepted-of-day.ts";
import { readCounts, visitOfDay } from "../../messages/counts/counts.ts";
import { UsageRecord, type UsageRow } from "../../messages/counts/figures.ts";
import { readNewestUsage } from "../../messages/counts/recount.ts";
import { findWallet, type WalletRecord } from "../../money/wallet/record.ts";
import { acceptedOfDay } from "../../money/wallet/spending-limits.ts";
import { operatorsEmail, owedEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmail } from "../../notices/emails/queue-email.ts";
import { dayMs, dayOf, hourMs, minuteMs, now, secondMs } from "../../platform/clock.ts";
import { listPending } from "../../platform/jobs/pending-work.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { countersOf, shardOfCounter, shardsOfDay, usageSortKey } from "../../platform/table/shards.ts";
import { transact } from "../../platform/table/transact.ts";
import { insertOf, updateItem, updateOf } from "../../platform/table/write.ts";
import { comparedDays, grossMicros, isUnusual, leastMessages, usualOf } from "./judge.ts";
import { noticeOf, OperatorNoticeRecord, unusualSpend } from "./record.ts";

/*
 * The watch over spending. Each hour it compares the spending of customers on the day so far with their last weeks. It visits
 * those with a message that has ended today, because the pending-work index lists the counters of their day.
 */

/** A run ends after this time, before the function's time-out. */
const runTimeMs = 4 * minuteMs + 30 * secondMs;

/** Organizations that are watched at the same time, and the newest messages that are read of each. */
const organizationsTogether = 5;
const maxRead = 10_000;

/** The first hour (UTC) in which the email of the day is sent. */
const hourOfDailyEmail = 7;

/**
 * Watches the spending of the organizations of a shard, and has the email of the day sent.
 * @returns how many countries of customers are unusual for the first time today
 */
export async function watchSpending(shard: number): Promise<number> {
  const startedAt = now();
  const today = dayOf(startedAt.toISOString());
  // The id makes it one email, however often it is queued.
  if (shard === 0 && startedAt.getUTCHours() >= hourOfDailyEmail)
    await enqueue(operatorsEmail({ what: "daily" }, `daily-${today}`));
  // The last run of the day before was before its end.
  const before = dayOf(new Date(startedAt.getTime() - hourMs - 15 * minuteMs).toISOString());
  let found = 0;
  for (const day of new Set([before, today])) {
    const counters = await listPending("CLOSE-DAY", shard, visitOfDay(day), visitOfDay(day));
    const ids = [...new Set(counters.map((key) => shardOfCounter(key).organizationId))];
    while (ids.length > 0) {
      if (now().getTime() > startedAt.getTime() + runTimeMs)
        throw new Error(`${ids.length} were not watched`);
      const batch = ids.splice(0, organizationsTogether);
      const counts = await Promise.all(batch.map(async (id) => watchSafely(id, day)));
      found += counts.reduce((sum, count) => sum + count, 0);
    }
  }
  return found;
}

/** Watches one organization. An error must not keep the others from being watched. */
async function watchSafely(organizationId: string, day: string): Promise<number> {
  try {
    const wallet = await findWallet(organizationId);
    return wallet === undefined ? 0 : await watch(wallet, day);
  } catch (error) {
    log.error("spend.not_watched", { organizationId, error });
    return 0;
  }
}

async function watch(wallet: WalletRecord, day: string): Promise<number> {
  const accepted = acceptedOfDay(wallet);
  if (accepted?.day === day && accepted.accepted < leastMessages) return 0;
  const rows = (await countriesOfDay(wallet, day)).filter((row) => isUnusual(row, 0));
  if (rows.length === 0) return 0;
  const days = await lastWeeks(wallet, day);
  let found = 0;
  for (const row of rows) {
    const ofCountry = days.map((each) => each.filter(({ name }) => name === row.name));
    const amounts = ofCountry.map((each) => each.reduce((sum, next) => sum + grossMicros(next), 0));
    const usualMicros = usualOf(amounts.filter((amount) => amount > 0));
    if (isUnusual(row, usualMicros) && (await note(wallet, day, row, usualMicros))) found += 1;
  }
  return found;
}

/** Returns the usage of a day so far. If the day has more messages than are read, the newest ones stand for all. */
async function countriesOfDay(wallet: WalletRecord, day: string): Promise<UsageRow[]> {
  const shards = shardsOfDay(wallet, day);
  const { usage, read, since } = await readNewestUsage(shards, maxRead);
  if (since === undefined) return usage.country;
  const { sk } = shards[0].counter;
  const byWallet = acceptedOfDay(wallet);
  const counters = await readCounts({ pk: countersOf(wallet), from: sk, to: sk });
  const { accepted } = tallyOfDay(counters, byWallet?.day === day ? byWallet : undefined);
  const scaled = (figure: number): number => Math.round(figure * Math.max(1, accepted / read));
  return usage.country.map((row) => ({
    ...row,
    messages: scaled(row.messages),
    amountMicros: scaled(row.amountMicros),
    refundedMicros: scaled(row.refundedMicros),
  }));
}

/** Reads the usage by country of the days before a day. The last of them may not be counted yet. */
async function lastWeeks(wallet: WalletRecord, day: string): Promise<UsageRow[][]> {
  const before = (days: number): string => dayOf(new Date(Date.parse(day) - days * dayMs).toISOString());
  const [from, to] = [usageSortKey(before(comparedDays)), usageSortKey(before(1))];
  const days = new Map<string, UsageRow[]>();
  for await (const { sk, usage } of itemsIn(UsageRecord, { pk: countersOf(wallet), from, to })) {
    days.set(sk, [...(days.get(sk) ?? []), ...usage.country]);
  }
  if (!days.has(to)) days.set(to, await countriesOfDay(wallet, before(1)));
  return [...days.values()];
}

/** Records unusual spending, or its present figures. @returns whether it is new, so that it is emailed */
async function note(
  { organizationId }: WalletRecord,
  day: string,
  row: UsageRow,
  usualMicros: number,
): Promise<boolean> {
  const { name: country, messages } = row;
  const figures = { messages, amountMicros: grossMicros(row), usualMicros };
  const { key, record } = noticeOf({ what: unusualSpend, organizationId, country, ...figures }, day);
  const email = operatorsEmail(
    { what: "unusualSpend", key: key.sk, day },
    `unusual-${day}-${organizationId}-${country}`,
  );
  const noted = await transact({ notice: insertOf(key, record), email: owedEmail(email) });
  if (noted.outcome !== "committed") {
    await updateItem(OperatorNoticeRecord, updateOf(key, { set: figures }, { present: ["pk"] }));
    return false;
  }
  const { amountMicros } = figures;
  log.warn("spend.unusual", { organizationId, country, count: messages, amountMicros, usualMicros });
  countMetrics({ UnusualSpend: 1 });
  await queueOwedEmail(email);
  return true;
}
