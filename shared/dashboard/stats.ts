import type { DashboardStats, MessageCounts } from "../contract/dashboard.ts";
import { dayOf, readDayCounts, type CountsRecord } from "../messages/counts.ts";
import { dayMs, now } from "../platform/clock.ts";
import { amountOf, currency } from "../wallet/money.ts";
import { readWallet } from "../wallet/wallet.ts";

const shownDays = 30;

type Counts = Pick<CountsRecord, "accepted" | "cancelled" | "failed" | "sent" | "spentMicros">;

const noMessages: Counts = { accepted: 0, cancelled: 0, failed: 0, sent: 0, spentMicros: 0 };

/**
 * Where an organisation stands: its balance and its messages of today and the last 30 days. It reads the wallet
 * and at most one counter a day, however many messages there are.
 * @throws ApiError WALLET_MISSING
 */
export async function readDashboardStats(organizationId: string): Promise<DashboardStats> {
  const days = lastDays(now());
  const [from = "", to = ""] = [days.at(-1), days[0]];
  const [wallet, counts] = await Promise.all([
    readWallet(organizationId),
    readDayCounts(organizationId, { from, to, limit: shownDays }),
  ]);
  const rows = days.map((date) => ({
    date,
    ...present(counts.find((each) => each.sk.endsWith(date)) ?? noMessages),
  }));
  const [today = { date: to, ...present(noMessages) }] = rows;
  return {
    balance: amountOf(wallet.balanceMicros),
    currency,
    today,
    last30Days: present(counts.reduce(sum, noMessages)),
    days: rows,
  };
}

/** Today and the days before it, newest first. */
function lastDays(at: Date): string[] {
  return Array.from({ length: shownDays }, (_, ago) =>
    dayOf(new Date(at.getTime() - ago * dayMs).toISOString()),
  );
}

function sum(one: Counts, other: Counts): Counts {
  return {
    accepted: one.accepted + other.accepted,
    cancelled: one.cancelled + other.cancelled,
    failed: one.failed + other.failed,
    sent: one.sent + other.sent,
    spentMicros: one.spentMicros + other.spentMicros,
  };
}

function present({ accepted, cancelled, failed, sent, spentMicros }: Counts): MessageCounts {
  const ended = sent + failed;
  return {
    accepted,
    // A counter that lost a count may be off by one until its day is closed; a negative number helps nobody.
    queued: Math.max(0, accepted - sent - failed - cancelled),
    sent,
    failed,
    cancelled,
    deliveryRate: ended === 0 ? null : Math.round((sent / ended) * 10_000) / 10_000,
    spend: amountOf(spentMicros),
  };
}
