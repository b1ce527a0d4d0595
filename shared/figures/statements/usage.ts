import { invalidField } from "../../api/contract/errors.ts";
import type { Usage, UsageQuery, UsageSums } from "../../api/contract/usage.ts";
import { findCampaign } from "../../audience/campaigns/record.ts";
import { tallyOfDay } from "../../messages/counts/accepted-of-day.ts";
import { countDayAfterMs, readCounts } from "../../messages/counts/counts.ts";
import {
  addUsage,
  noUsage,
  sumAs,
  sumOfRows,
  UsageRecord,
  type UsageRow,
} from "../../messages/counts/figures.ts";
import { readNewestUsage } from "../../messages/counts/recount.ts";
import { amountOf } from "../../money/wallet/money.ts";
import { readWallet, type WalletRecord } from "../../money/wallet/record.ts";
import { acceptedOfDay } from "../../money/wallet/spending-limits.ts";
import { dayMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { undefinedIfUnreadable } from "../../platform/table/records.ts";
import { countersOf, daySortKey, shardsOfDay, usageSortKey } from "../../platform/table/shards.ts";
import { allApiKeys } from "../../tenancy/api-keys/record.ts";

/** A day with messages. Before these have been counted, only the day's own sums are known, without segments and fees. */
interface Day {
  readonly name: string;
  readonly sums: UsageRow;
  readonly usage: UsageRecord["usage"] | undefined;
  readonly isClosed: boolean;
  /** Since when `usage` has its messages, if it lacks earlier ones. */
  readonly since?: string;
}

/** The most messages that a request reads, of days that have not been counted. */
const maxRead = 5_000;

/**
 * Returns the messages and costs of an organization in a month, or on a day. It reads the wallet, and at most one counter and
 * one usage record for each day and shard. It also reads the newest messages of days that have not been counted.
 * @throws ApiError WALLET_MISSING; VALIDATION_ERROR for a day outside of the month
 */
export async function getUsage(organizationId: string, { month, day, by }: UsageQuery): Promise<Usage> {
  const at = now().getTime();
  const shown = month ?? (day ?? now().toISOString()).slice(0, "yyyy-mm".length);
  if (day?.startsWith(shown) === false) throw invalidField("day", "must be a day of the month");
  const wallet = await readWallet(organizationId);
  const counted = await readDays(wallet, day ?? shown);
  const days = by === "day" ? counted : await withNewestMessages(wallet, counted, by);
  const missing = days
    .filter(
      (each) => (by === "day" ? each.usage : each.usage?.[by]) === undefined || each.since !== undefined,
    )
    .map(({ name }) => name);
  const rows =
    by === "day" ? days.map(({ sums }) => sums) : sumOfRows(days.flatMap((each) => each.usage?.[by] ?? []));
  const labels = await labelsOf(organizationId, by, rows);
  const isCounted = (name: string): boolean => by !== "day" || !missing.includes(name);
  const start = new Date(day ?? `${shown}-01`);
  const end = day === undefined ? start.setUTCMonth(start.getUTCMonth() + 1) : start.getTime() + dayMs;
  return {
    month: shown,
    day,
    by,
    currency: config.currency(),
    isFinal:
      end + countDayAfterMs <= at &&
      days.every(({ isClosed }) => isClosed) &&
      (by === "day" || missing.length === 0),
    total: sumsOf(
      sumAs("total", rows),
      rows.every(({ name }) => isCounted(name)),
    ),
    rows: rows.map((row) => {
      const { name } = row;
      return { name, label: labels.get(name), ...sumsOf(row, isCounted(name)) };
    }),
    missingDays: by === "day" ? [] : missing,
    includedSince: days.findLast(({ since }) => since !== undefined)?.since,
  };
}

/** Adds the usage of their newest messages to days that have not been counted, the last days first. */
async function withNewestMessages(
  wallet: WalletRecord,
  days: readonly Day[],
  by: Exclude<UsageQuery["by"], "day">,
): Promise<Day[]> {
  let left = maxRead;
  const added: Day[] = [];
  for (const day of days.toReversed()) {
    // The retention may have deleted messages of a closed day.
    const isRead = left > 0 && !day.isClosed && day.usage?.[by] === undefined;
    const { read, ...newest } = isRead
      ? await readNewestUsage(shardsOfDay(wallet, day.name), left)
      : { read: 0 };
    left -= read;
    added.unshift({ ...day, ...newest });
  }
  return added;
}

/** Returns the days with messages that begin with a month or are a day, in order. */
async function readDays(wallet: WalletRecord, period: string): Promise<Day[]> {
  const pk = countersOf(wallet);
  const [first, last] = [period, `${period}~`];
  const usage = new Map<string, UsageRecord[]>();
  for await (const each of itemsIn(UsageRecord, { pk, from: usageSortKey(first), to: usageSortKey(last) })) {
    usage.set(each.sk, [...(usage.get(each.sk) ?? []), each]);
  }
  const counters = await readCounts({ pk, from: daySortKey(first), to: daySortKey(last) });
  const present = acceptedOfDay(wallet);
  const names = new Set(counters.map(({ sk }) => sk.slice(daySortKey("").length)));
  if (present?.day.startsWith(period) === true) names.add(present.day);
  const days = [...names].toSorted().map((name): Day => {
    const ofDay = counters.filter(({ sk }) => sk === daySortKey(name));
    const isClosed = ofDay.length > 0 && ofDay.every(({ closedAt }) => closedAt !== undefined);
    const records = usage.get(usageSortKey(name)) ?? [];
    // Each shard is counted on its own.
    if (records.length > 0 && records.length >= ofDay.length) {
      const sum = records.map((each) => each.usage).reduce(addUsage, noUsage);
      return { name, usage: sum, sums: sumAs(name, sum.country), isClosed };
    }
    const tally = tallyOfDay(ofDay, present?.day === name ? present : undefined);
    const sums = {
      name,
      // A counter that lost a count is off by it until the day is counted.
      messages: Math.max(0, tally.accepted - tally.failed - tally.cancelled),
      segments: 0,
      amountMicros: Math.max(0, tally.spentMicros),
      refundedMicros: Math.max(0, tally.returnedMicros),
      feeMicros: 0,
    };
    return { name, usage: undefined, sums, isClosed };
  });
  return days.filter(({ sums }) => sums.messages > 0 || sums.refundedMicros > 0);
}

function sumsOf(row: UsageRow, isCounted: boolean): UsageSums {
  return {
    messages: row.messages,
    ...(isCounted ? { segments: row.segments } : {}),
    amount: amountOf(row.amountMicros),
    ...(isCounted ? { fees: amountOf(row.feeMicros) } : {}),
    refunded: amountOf(row.refundedMicros),
  };
}

/** Returns the names of the campaigns or keys in a usage. Those that no longer exist have none. */
async function labelsOf(
  organizationId: string,
  by: UsageQuery["by"],
  rows: readonly UsageRow[],
): Promise<Map<string, string>> {
  if (by === "key") {
    const apiKeys = rows.length === 0 ? [] : await allApiKeys(organizationId);
    return new Map(apiKeys.map(({ id, name, hint }) => [id, name ?? hint]));
  }
  const ids = by === "campaign" ? rows.map(({ name }) => name).filter((name) => name.startsWith("cmp_")) : [];
  const campaigns = await Promise.all(
    ids.map(async (id) => findCampaign(organizationId, id).catch(undefinedIfUnreadable)),
  );
  return new Map(campaigns.flatMap((each) => (each === undefined ? [] : [[each.id, each.name]])));
}
