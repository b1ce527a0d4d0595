import type { AutoRechargeState } from "../../api/contract/billing.ts";
import { now } from "../../platform/clock.ts";
import { amountOf } from "../wallet/money.ts";
import { readWallet, type WalletRecord } from "../wallet/record.ts";
import { readBilling, type AutoRechargeRecord, type BillingRecord } from "./billing-record.ts";

/** Returns the settings of auto-recharge and its state; null until there are settings. */
export async function getAutoRecharge(organizationId: string): Promise<AutoRechargeState | null> {
  const [billing, wallet] = await Promise.all([readBilling(organizationId), readWallet(organizationId)]);
  const { autoRecharge: settings } = billing;
  return settings === undefined ? null : stateOf(settings, billing, wallet);
}

/** Returns the state of auto-recharge with its settings. */
export function stateOf(
  settings: AutoRechargeRecord,
  billing: BillingRecord,
  wallet: WalletRecord,
): AutoRechargeState {
  const { rechargeFailures, rechargeFailure } = billing;
  const { rechargeNotBefore = "", rechargeId } = wallet;
  const isPaused = settings.isEnabled && rechargeNotBefore > now().toISOString();
  return {
    isEnabled: settings.isEnabled,
    threshold: amountOf(settings.thresholdMicros),
    amount: amountOf(settings.amountMicros),
    monthlyCap: amountOf(settings.monthlyCapMicros),
    paymentMethodId: settings.paymentMethodId,
    rechargedThisMonth: amountOf(rechargedMicros(billing)),
    pausedUntil: isPaused ? rechargeNotBefore : undefined,
    failure: rechargeFailures > 0 || isPaused ? rechargeFailure : undefined,
    pendingPaymentId: rechargeId,
  };
}

/** Returns what recharges added to the wallet in the present month. */
export function rechargedMicros({ rechargeMonth, rechargedMicros: micros }: BillingRecord): number {
  return rechargeMonth === monthOf(now()) ? micros : 0;
}

/** Returns the month of a moment (UTC), for example `2026-11`. */
export function monthOf(at: Date): string {
  return at.toISOString().slice(0, "yyyy-mm".length);
}
