import type { DashboardStats, MessageCounts } from "../../api/contract/dashboard.ts";
import { tallyOfDay } from "../../messages/counts/accepted-of-day.ts";
import { readCounts, receiptsOf, shareOf } from "../../messages/counts/counts.ts";
import { emptyTally, type Tally } from "../../messages/counts/figures.ts";
import { added } from "../../messages/counts/rows.ts";
import { amountOf } from "../../money/wallet/money.ts";
import { readWallet } from "../../money/wallet/record.ts";
import { acceptedOfDay } from "../../money/wallet/spending-limits.ts";
import { dayMs, dayOf, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { countersOf, daySortKey } from "../../platform/table/shards.ts";

const shownDays = 30;

/**
 * Returns an organization's balance, and its messages of today and the last 30 days. It reads the wallet and at most
 * one counter a day and shard, however many messages there are.
 * @throws ApiError WALLET_MISSING
 */
export async function getDashboardStats(organizationId: string): Promise<DashboardStats> {
  const days = lastDays(now());
  const [from = "", to = ""] = [days.at(-1), days[0]];
  const wallet = await readWallet(organizationId);
  const counts = await readCounts({ pk: countersOf(wallet), from: daySortKey(from), to: daySortKey(to) });
  const byWallet = acceptedOfDay(wallet);
  const tallies = days.map((date) =>
    tallyOfDay(
      counts.filter(({ sk }) => sk === daySortKey(date)),
      byWallet?.day === date ? byWallet : undefined,
    ),
  );
  const rows = days.map((date, index) => ({ date, ...present(tallies[index] ?? emptyTally) }));
  const [today = { date: to, ...present(emptyTally) }] = rows;
  return {
    balance: amountOf(wallet.balanceMicros),
    currency: config.currency(),
    today,
    last30Days: present(tallies.reduce<Tally>(added, emptyTally)),
    days: rows,
  };
}

/** Returns today and the days before it, newest first. */
function lastDays(at: Date): string[] {
  return Array.from({ length: shownDays }, (_, ago) =>
    dayOf(new Date(at.getTime() - ago * dayMs).toISOString()),
  );
}

function present(tally: Tally): MessageCounts {
  const { accepted, cancelled, failed, sent, spentMicros } = tally;
  return {
    accepted,
    // A counter that lost a count is off by it until its day is closed; a negative number helps no one.
    queued: Math.max(0, accepted - sent - failed - cancelled),
    sent,
    failed,
    cancelled,
    deliveryRate: shareOf(sent, sent + failed),
    ...receiptsOf(tally),
    spend: amountOf(Math.max(0, spentMicros)),
  };
}
