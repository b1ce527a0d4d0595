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
import { amountOf } from "../../money/wallet/money.ts";
import { readWallet } from "../../money/wallet/record.ts";
import { acceptedOfDay } from "../../money/wallet/spending-limits.ts";
import { now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { undefinedIfUnreadable } from "../../platform/table/records.ts";
import { countersOf, daySortKey, usageSortKey } from "../../platform/table/shards.ts";
import { allApiKeys } from "../../tenancy/api-keys/record.ts";

/** A day with messages. Before these have been counted, only the day's own sums are known, without segments. */
interface Day {
  readonly name: string;
  readonly sums: UsageRow;
  readonly usage: UsageRecord["usage"] | undefined;
  readonly isClosed: boolean;
}

/**
 * Returns the messages and costs of an organization in a month. It reads the wallet, and at most one counter and one usage
 * record for each day and shard, however many messages there are.
 * @throws ApiError WALLET_MISSING
 */
export async function getUsage(organizationId: string, { month, by }: UsageQuery): Promise<Usage> {
  const shown = month ?? now().toISOString().slice(0, "yyyy-mm".length);
  const days = await readDays(organizationId, shown);
  const missing = days.filter(({ usage }) => usage === undefined).map(({ name }) => name);
  const rows =
    by === "day" ? days.map(({ sums }) => sums) : sumOfRows(days.flatMap((day) => day.usage?.[by] ?? []));
  const labels = await labelsOf(organizationId, by, rows);
  const isCounted = (name: string): boolean => by !== "day" || !missing.includes(name);
  const start = new Date(`${shown}-01T00:00:00.000Z`);
  const countedAt = start.setUTCMonth(start.getUTCMonth() + 1) + countDayAfterMs;
  return {
    month: shown,
    by,
    currency: config.currency(),
    isFinal:
      countedAt <= now().getTime() &&
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
  };
}

/** Returns the days of a month that have messages, in order. */
async function readDays(organizationId: string, month: string): Promise<Day[]> {
  const wallet = await readWallet(organizationId);
  const pk = countersOf(wallet);
  const [first, last] = [`${month}-01`, `${month}-31`];
  const usage = new Map<string, UsageRecord[]>();
  for await (const each of itemsIn(UsageRecord, { pk, from: usageSortKey(first), to: usageSortKey(last) })) {
    usage.set(each.sk, [...(usage.get(each.sk) ?? []), each]);
  }
  const counters = await readCounts({ pk, from: daySortKey(first), to: daySortKey(last) });
  const present = acceptedOfDay(wallet);
  const names = new Set(counters.map(({ sk }) => sk.slice(daySortKey("").length)));
  if (present?.day.startsWith(month) === true) names.add(present.day);
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
