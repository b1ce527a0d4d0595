import type { WebhookEvent } from "../contract/events.ts";
import { eventIdOf, eventJob, owedEvent } from "../events/event-job.ts";
import { now } from "../platform/clock.ts";
import { enqueue } from "../platform/jobs/queue.ts";
import { keys } from "../platform/table/keys.ts";
import { transact, type Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { amountOf, currency } from "./money.ts";
import { isLow, type WalletRecord } from "./record.ts";
import { dailyCapMicros, nextDay, spentTodayMicros } from "./spending-limits.ts";

/*
 * What customers are told of their wallet. That they were told is noted on the wallet together with a job that tells them, so
 * either both are there or the next who sees the wallet does it: a debit, a refusal, or the reconciler.
 */

/**
 * Tells the customer that the balance is below their threshold, once until it has been above it again.
 * @throws Error when that was not possible now
 */
export async function notifyLowBalance(wallet: WalletRecord): Promise<void> {
  const { organizationId, balanceMicros, lowBalanceThresholdMicros = 0, lowBalanceNotedAt } = wallet;
  if (!isLow(wallet) || lowBalanceNotedAt !== undefined) return;
  const at = now();
  const data = {
    id: eventIdOf(organizationId, "balance.low", at),
    balance: amountOf(balanceMicros),
    lowBalanceThreshold: amountOf(lowBalanceThresholdMicros),
    currency,
  } as const;
  const note = updateOf(
    keys.wallet(organizationId),
    { set: { lowBalanceNotedAt: at.toISOString() } },
    { absent: ["lowBalanceNotedAt"], where: "balanceMicros < lowBalanceThresholdMicros" },
  );
  await tell(organizationId, { event: "balance.low", timestamp: at.toISOString(), data }, note);
}

/**
 * Tells the customer that a message was refused because the day's cap is reached, once a day.
 * @throws Error when that was not possible now
 */
export async function notifyCapReached(wallet: WalletRecord): Promise<void> {
  const { organizationId, spendDay, capReachedDay } = wallet;
  const capMicros = dailyCapMicros(wallet);
  if (spendDay === undefined || capMicros === undefined || spendDay === capReachedDay) return;
  const at = now();
  const data = {
    id: eventIdOf(organizationId, "spend.cap_reached", at),
    dailySpendCap: amountOf(capMicros),
    spentToday: amountOf(spentTodayMicros(wallet)),
    currency,
    resetsAt: nextDay().toISOString(),
  } as const;
  const note = updateOf(
    keys.wallet(organizationId),
    { set: { capReachedDay: spendDay } },
    { is: { spendDay }, where: "attribute_not_exists(#capReachedDay) OR #capReachedDay < :capReachedDay" },
  );
  await tell(organizationId, { event: "spend.cap_reached", timestamp: at.toISOString(), data }, note);
}

/** Queues an event whose note is refused when somebody else has told it. */
async function tell(organizationId: string, event: WebhookEvent, note: Update): Promise<void> {
  const job = eventJob(organizationId, event);
  const { outcome } = await transact([note, owedEvent(job)]);
  if (outcome === "committed") await enqueue(job);
}
