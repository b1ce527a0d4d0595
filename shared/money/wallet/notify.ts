import type { WebhookEvent } from "../../api/contract/events.ts";
import { eventIdOf, eventJob, owedEvent } from "../../notices/event-job.ts";
import { now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { log } from "../../platform/log.ts";
import { field } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact } from "../../platform/table/transact.ts";
import { type Update, updateOf } from "../../platform/table/write.ts";
import { amountOf } from "./money.ts";
import { isLow, type WalletRecord } from "./record.ts";
import { dailyCapMicros, nextDay, spentTodayMicros } from "./spending-limits.ts";

/*
 * Notifications about a wallet. One transaction notes the notification on the wallet and stores its job. If it fails, the next
 * debit, rejection, or pass of the reconciler repeats it.
 */

/**
 * Notifies the customer that the balance is below their threshold, once until it was above the threshold again.
 * @throws Error when the notification cannot be stored now
 */
export async function notifyLowBalance(wallet: WalletRecord): Promise<void> {
  const { organizationId, balanceMicros, lowBalanceThresholdMicros = 0, lowBalanceNotedAt } = wallet;
  if (!isLow(wallet) || lowBalanceNotedAt !== undefined) return;
  const at = now();
  const data = {
    id: eventIdOf(organizationId, "balance.low", at),
    balance: amountOf(balanceMicros),
    lowBalanceThreshold: amountOf(lowBalanceThresholdMicros),
    currency: config.currency(),
  } as const;
  const note = updateOf(
    keys.wallet(organizationId),
    { set: { lowBalanceNotedAt: at.toISOString() } },
    { absent: ["lowBalanceNotedAt"], below: { balanceMicros: field("lowBalanceThresholdMicros") } },
  );
  await notify(organizationId, { event: "balance.low", timestamp: at.toISOString(), data }, note);
}

/**
 * Notifies the customer once a day that a message was rejected because of the daily cap.
 * @throws Error when the notification cannot be stored now
 */
export async function notifyCapReached(wallet: WalletRecord): Promise<void> {
  const { organizationId, spendDay, capReachedDay } = wallet;
  const capMicros = dailyCapMicros(wallet);
  if (capMicros === undefined || spendDay === capReachedDay) return;
  const at = now();
  const data = {
    id: eventIdOf(organizationId, "spend.cap_reached", at),
    dailySpendCap: amountOf(capMicros),
    spentToday: amountOf(spentTodayMicros(wallet)),
    currency: config.currency(),
    resetsAt: nextDay().toISOString(),
  } as const;
  const note = updateOf(
    keys.wallet(organizationId),
    { set: { capReachedDay: spendDay } },
    { is: { spendDay }, ifPresent: { below: { capReachedDay: spendDay } } },
  );
  await notify(organizationId, { event: "spend.cap_reached", timestamp: at.toISOString(), data }, note);
}

/** Queues an event, unless another call noted it first. */
async function notify(organizationId: string, event: WebhookEvent, note: Update<"wallet">): Promise<void> {
  const job = eventJob(organizationId, event);
  const { outcome } = await transact({ note, event: owedEvent(job) });
  if (outcome === "committed") await enqueue(job);
}

/** Logs a pending notification. The next debit or rejection repeats it, or the reconciler. */
export function logPending(error: unknown): void {
  log.warn("wallet.event_pending", { error });
}
