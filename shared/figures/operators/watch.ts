import { visitOfDay } from "../../messages/counts/counts.ts";
import { UsageRecord, type UsageRow } from "../../messages/counts/figures.ts";
import { findWallet, type WalletRecord } from "../../money/wallet/record.ts";
import { acceptedOfDay } from "../../money/wallet/spending-limits.ts";
import { operatorsEmail, owedEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmail } from "../../notices/emails/queue-email.ts";
import { dayMs, dayOf, minuteMs, now, secondMs } from "../../platform/clock.ts";
import type { QueuedJob } from "../../platform/jobs/job.ts";
import { listPending } from "../../platform/jobs/pending-work.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { countersOf, shardOfCounter, usageSortKey } from "../../platform/table/shards.ts";
import { transact } from "../../platform/table/transact.ts";
import { insertOf, updateItem, updateOf } from "../../platform/table/write.ts";
import { comparedDays, grossMicros, isUnusual, leastMessages, usualOf } from "./judge.ts";
import { noticeOf, OperatorNoticeRecord, unusualSpend } from "./record.ts";
import { spendSoFar } from "./spend-so-far.ts";

/*
 * The watch over spending. Each quarter of an hour it compares the spending of customers on the day so far with their last weeks. It
 * visits those with a message that has ended today, because the pending-work index lists the counters of their day.
 */

/** The period of the watch. The findings of its shards are one email. */
const slotMs = 15 * minuteMs;

interface Slot {
  /** When it began, in ISO 8601. */
  readonly since: string;
  /** The email about what was found. */
  email?: QueuedJob;
}

/** The time until the email of a slot, in which all shards end. */
const emailAfterSeconds = 300;

/** A run ends after this time, before the function's time-out. */
const runTimeMs = 4 * minuteMs + 30 * secondMs;

/** Organizations that are watched at the same time. */
const organizationsTogether = 5;

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
  const before = dayOf(new Date(startedAt.getTime() - 2 * slotMs).toISOString());
  let found = 0;
  const slot: Slot = { since: new Date(Math.floor(startedAt.getTime() / slotMs) * slotMs).toISOString() };
  for (const day of new Set([before, today])) {
    const counters = await listPending("CLOSE-DAY", shard, visitOfDay(day), visitOfDay(day));
    const all = [...new Set(counters.map((key) => shardOfCounter(key).organizationId))];
    // A run that ends early leaves out others than the run before.
    const first = Math.floor(Math.random() * all.length);
    const ids = [...all.slice(first), ...all.slice(0, first)];
    while (ids.length > 0) {
      if (now().getTime() > startedAt.getTime() + runTimeMs) {
        log.warn("spend.not_all_watched", { count: ids.length });
        // Below half of them, a customer is seen too rarely.
        if (ids.length > all.length / 2) throw new Error(`${ids.length} of ${all.length} were not watched`);
        break;
      }
      const batch = ids.splice(0, organizationsTogether);
      const counts = await Promise.all(batch.map(async (id) => watchSafely(id, day, slot)));
      found += counts.reduce((sum, count) => sum + count, 0);
    }
  }
  if (slot.email !== undefined) await queueOwedEmail({ ...slot.email, delaySeconds: emailAfterSeconds });
  return found;
}

/** Watches one organization. An error must not keep the others from being watched. */
async function watchSafely(organizationId: string, day: string, slot: Slot): Promise<number> {
  try {
    const wallet = await findWallet(organizationId);
    return wallet === undefined ? 0 : await watch(wallet, day, slot);
  } catch (error) {
    log.error("spend.not_watched", { organizationId, error });
    return 0;
  }
}

async function watch(wallet: WalletRecord, day: string, slot: Slot): Promise<number> {
  const accepted = acceptedOfDay(wallet);
  if (accepted?.day === day && accepted.accepted < leastMessages) return 0;
  const rows = (await spendOf(wallet, day)).filter((row) => isUnusual(row, 0));
  if (rows.length === 0) return 0;
  const days = await lastWeeks(wallet, day);
  let found = 0;
  for (const row of rows) {
    const ofCountry = days.map((each) => each.filter(({ name }) => name === row.name));
    const amounts = ofCountry.map((each) => each.reduce((sum, next) => sum + grossMicros(next), 0));
    const usualMicros = usualOf(amounts.filter((amount) => amount > 0));
    if (isUnusual(row, usualMicros) && (await note(wallet, day, row, { usualMicros, slot }))) found += 1;
  }
  return found;
}

/** Returns the spending of a day so far, as the usage of a counted day has it. */
async function spendOf(wallet: WalletRecord, day: string): Promise<Spend[]> {
  return (await spendSoFar(wallet, day)).map((row) => ({ ...row, refundedMicros: 0 }));
}

type Spend = Pick<UsageRow, "amountMicros" | "messages" | "name" | "refundedMicros">;

/** Reads the usage by country of the days before a day. The last of them may not be counted yet. */
async function lastWeeks(wallet: WalletRecord, day: string): Promise<Spend[][]> {
  const before = (days: number): string => dayOf(new Date(Date.parse(day) - days * dayMs).toISOString());
  const [from, to] = [usageSortKey(before(comparedDays)), usageSortKey(before(1))];
  const days = new Map<string, Spend[]>();
  for await (const { sk, usage } of itemsIn(UsageRecord, { pk: countersOf(wallet), from, to })) {
    days.set(sk, [...(days.get(sk) ?? []), ...usage.country]);
  }
  const amounts = [...days.values()];
  return days.has(to) ? amounts : [...amounts, await spendOf(wallet, before(1))];
}

/** Records unusual spending, or its present figures. @returns whether it is new, so that it is emailed */
async function note(
  { organizationId }: WalletRecord,
  day: string,
  row: Spend,
  { usualMicros, slot }: { readonly usualMicros: number; readonly slot: Slot },
): Promise<boolean> {
  const { name: country, messages } = row;
  const figures = { messages, amountMicros: grossMicros(row), usualMicros };
  const { key, record } = noticeOf({ what: unusualSpend, organizationId, country, ...figures }, day);
  const email = operatorsEmail(
    { what: "unusualSpend", key: key.sk, day, since: slot.since },
    `unusual-${slot.since}`,
  );
  const noted = await transact({ notice: insertOf(key, record), email: owedEmail(email) });
  if (noted.outcome !== "committed") {
    await updateItem(OperatorNoticeRecord, updateOf(key, { set: figures }, { present: ["pk"] }));
    return false;
  }
  const { amountMicros } = figures;
  log.warn("spend.unusual", { organizationId, country, count: messages, amountMicros, usualMicros });
  countMetrics({ UnusualSpend: 1 });
  slot.email = email;
  return true;
}
