import type { DashboardStats, MessageCounts } from "../contract/dashboard.ts";
import { dayOf, emptyTally, readCounts, sumOf, type Tally } from "../messages/counts.ts";
import { dayMs, now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { amountOf, currency } from "../wallet/money.ts";
import { readWallet } from "../wallet/record.ts";

const shownDays = 30;

/**
 * Where an organisation stands: its balance and its messages of today and the last 30 days. It reads the wallet
 * and at most one counter a day, however many messages there are.
 * @throws ApiError WALLET_MISSING
 */
export async function getDashboardStats(organizationId: string): Promise<DashboardStats> {
  const days = lastDays(now());
  const [from = "", to = ""] = [days.at(-1), days[0]];
  const [wallet, counts] = await Promise.all([
    readWallet(organizationId),
    readCounts({
      from: keys.dayCounts(organizationId, from),
      to: keys.dayCounts(organizationId, to),
      limit: shownDays,
    }),
  ]);
  const rows = days.map((date) => ({
    date,
    ...present(counts.find((each) => each.sk.endsWith(date)) ?? emptyTally),
  }));
  const [today = { date: to, ...present(emptyTally) }] = rows;
  return {
    balance: amountOf(wallet.balanceMicros),
    currency,
    today,
    last30Days: present(counts.reduce<Tally>(sumOf, emptyTally)),
    days: rows,
  };
}

/** Today and the days before it, newest first. */
function lastDays(at: Date): string[] {
  return Array.from({ length: shownDays }, (_, ago) =>
    dayOf(new Date(at.getTime() - ago * dayMs).toISOString()),
  );
}

function present({ accepted, cancelled, failed, sent, spentMicros }: Tally): MessageCounts {
  const ended = sent + failed;
  return {
    accepted,
    // A counter that lost a count is off by it until its day is closed; a negative number helps nobody.
    queued: Math.max(0, accepted - sent - failed - cancelled),
    sent,
    failed,
    cancelled,
    deliveryRate: ended === 0 ? null : Math.round((sent / ended) * 10_000) / 10_000,
    spend: amountOf(Math.max(0, spentMicros)),
  };
}
