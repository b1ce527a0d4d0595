import type { AutoRecharge, AutoRechargeState } from "../../api/contract/billing.ts";
import { ApiError, invalidField } from "../../api/contract/errors.ts";
import { billingEmail, owedEmail } from "../../notices/emails/email-job.ts";
import type { BillingNotice } from "../../notices/emails/email-kinds.ts";
import { queueOwedEmails } from "../../notices/emails/queue-email.ts";
import { dayOf, hourMs, now } from "../../platform/clock.ts";
import { useToday } from "../../platform/limits/daily.ts";
import type { Changes, Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { type Step, transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { checkOf, updateItem, updateOf, type Update } from "../../platform/table/write.ts";
import { changeNotices } from "../../tenancy/organizations/owner-notices.ts";
import { checkDrawable } from "../invoices/characters.ts";
import { amountOf, microsOfField, microsOfText } from "../wallet/money.ts";
import { requestRecharge } from "../wallet/recharge.ts";
import { readWallet, type WalletRecord } from "../wallet/record.ts";
import { nextDay } from "../wallet/spending-limits.ts";
import {
  BillingRecord,
  buyerOf,
  paymentMethodKinds,
  readBilling,
  type AutoRechargeRecord,
} from "./billing-record.ts";
import { newPayment, paymentAmount, savedCardLimit } from "./create.ts";
import { checkCard, withCustomer } from "./customers.ts";
import { balanceCheck } from "./payment-job.ts";
import { monthOf, rechargedMicros, stateOf } from "./recharge-state.ts";
import { findPayment, paymentPut, paymentUpdate, type PaymentKey, type PaymentRecord } from "./record.ts";
import { paymentSettings } from "./settings.ts";
import { writeStep } from "./steps.ts";

/*
 * Auto-recharge. The wallet has the threshold and the id of the present recharge, because each debit compares them. The
 * billing details have the other settings and the counters. A recharge counts against the monthly cap when it starts, and a
 * failed one no more.
 */

/** How long recharges pause after each failure in a row. After the last one, auto-recharge is switched off. */
const pausesMs = [hourMs, 6 * hourMs, 24 * hourMs];

/**
 * Replaces the settings of auto-recharge, and ends a pause. A recharge in progress continues.
 * @throws ApiError VALIDATION_ERROR for an amount outside the stage's bounds, a cap below the amount, or without a saved
 *   card; PAYMENT_METHOD_DISABLED, PAYMENT_PROVIDER_UNAVAILABLE, WALLET_MISSING
 */
export async function setAutoRecharge(
  organizationId: string,
  { isEnabled, paymentMethodId, ...amounts }: AutoRecharge,
): Promise<AutoRechargeState> {
  const settings: AutoRechargeRecord = {
    isEnabled,
    thresholdMicros: microsOfField("threshold", amounts.threshold),
    amountMicros: paymentAmount("amount", amounts.amount),
    monthlyCapMicros: microsOfField("monthlyCap", amounts.monthlyCap),
    paymentMethodId,
  };
  if (settings.monthlyCapMicros < settings.amountMicros) {
    throw invalidField("monthlyCap", "must be at least the amount of one recharge");
  }
  await readWallet(organizationId);
  const billing = await readBilling(organizationId);
  if (isEnabled) {
    checkDrawable(await buyerOf(billing), "billing.");
    if (!paymentMethodKinds().includes("card")) throw new ApiError("PAYMENT_METHOD_DISABLED");
    if (paymentMethodId !== undefined) await checkCard(billing, paymentMethodId);
    else if ((await withCustomer(billing, async (provider, id) => provider.listMethods(id))).length === 0) {
      throw invalidField("paymentMethodId", "is missing, and there is no saved card");
    }
  }
  const walletChanges: Changes<"wallet"> = isEnabled
    ? { set: { rechargeBelowMicros: settings.thresholdMicros }, remove: ["rechargeNotBefore"] }
    : { remove: ["rechargeBelowMicros", "rechargeNotBefore"] };
  const notices = await changeNotices(organizationId, "autoRechargeChanged");
  const changed = await transact({
    notices: notices.map(owedEmail),
    billing: updateOf(keys.billing(organizationId), {
      set: { entity: "billing", organizationId, autoRecharge: settings, rechargeFailures: 0 },
      remove: ["rechargeFailure"],
    }),
    wallet: updateOf(keys.wallet(organizationId), walletChanges, { present: ["pk"] }),
  });
  if (changed.outcome === "rejected") throw new ApiError("WALLET_MISSING");
  await queueOwedEmails(notices);
  await requestRecharge(await readWallet(organizationId));
  return stateOf(settings, await readBilling(organizationId), await readWallet(organizationId));
}

/**
 * Makes the payment of a recharge that the wallet has noted. Does nothing if the wallet names another recharge, or if the
 * payment exists. The payment is stored first: from then on it is pending work. Only then is the provider called.
 */
export async function startRecharge({ organizationId, paymentId }: PaymentKey): Promise<void> {
  await untilUndisturbed(async (): Promise<Step> => {
    const [billing, wallet] = await Promise.all([readBilling(organizationId), readWallet(organizationId)]);
    if (wallet.rechargeId !== paymentId) return "applied";
    // A repeated job. The payment counts against the cap already, and the wallet names it until it ends.
    if ((await findPayment({ organizationId, paymentId })) !== undefined) return "applied";
    const { autoRecharge: settings } = billing;
    const isStopped = wallet.closedAt !== undefined || wallet.suspendedAt !== undefined;
    // Another payment may have come since the balance fell.
    const isUnneeded = wallet.balanceMicros >= (wallet.rechargeBelowMicros ?? 0);
    if (settings?.isEnabled !== true || isStopped || isUnneeded)
      return writeStep({ wallet: walletRelease(wallet, {}) });
    const { amountMicros, paymentMethodId } = settings;
    // The operator may have lowered the maximum after the customer chose the amount.
    const maximumMicros = microsOfText(paymentSettings().maximum) ?? Infinity;
    if (amountMicros > maximumMicros) return pauseUntilTomorrow(wallet, amountOf(maximumMicros));
    const sumMicros = rechargedMicros(billing) + amountMicros;
    if (sumMicros > settings.monthlyCapMicros) return pauseUntilNextMonth(wallet, settings);
    const payment = newPayment({
      id: paymentId,
      organizationId,
      method: "card",
      origin: "auto_recharge",
      amountMicros,
      billing,
      paymentMethodId,
    });
    const counted = updateOf(
      keys.billing(organizationId),
      { set: { rechargeMonth: monthOf(now()), rechargedMicros: sumMicros } },
      unchangedSince(billing),
    );
    const charged = useToday(savedCardLimit(), organizationId, amountMicros);
    const requires = { is: { rechargeId: paymentId }, absent: ["closedAt", "suspendedAt"] } as const;
    const check = checkOf(keys.wallet(organizationId), requires);
    const result = await transact({ payment: paymentPut(payment), billing: counted, charged, check });
    if (result.outcome === "committed") return "applied";
    // Another worker has made it.
    if (result.rejections.payment !== undefined) return "applied";
    return result.rejections.charged === undefined ? "disturbed" : pauseUntilTomorrow(wallet);
  });
}

/** Requires that no other recharge was counted, and that the settings are the same, since the billing details were read. */
function unchangedSince({
  autoRecharge,
  rechargeMonth,
  rechargedMicros: micros,
}: BillingRecord): Requirements<"billing"> {
  return rechargeMonth === undefined
    ? { absent: ["rechargeMonth"], is: { autoRecharge } }
    : { is: { autoRecharge, rechargeMonth, rechargedMicros: micros } };
}

async function pauseUntilNextMonth(
  wallet: WalletRecord,
  { monthlyCapMicros }: AutoRechargeRecord,
): Promise<Step> {
  const at = now();
  const nextMonth = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1));
  const notice = { what: "rechargeCapReached", monthlyCap: amountOf(monthlyCapMicros) } as const;
  return pauseUntil(nextMonth, wallet, notice, `cap-${monthOf(at)}`);
}

/** @param maximum the most of one payment, if the recharge is above it */
async function pauseUntilTomorrow(wallet: WalletRecord, maximum?: number): Promise<Step> {
  const dailyMaximum = amountOf(savedCardLimit().max);
  const notice = { what: "dailyMaximumReached", dailyMaximum, maximum } as const;
  return pauseUntil(nextDay(), wallet, notice, `maximum-${dayOf(now().toISOString())}`);
}

/** Ends a recharge that a cap prevents, until a moment, and notifies the customer once for each `name`. */
async function pauseUntil(
  until: Date,
  wallet: WalletRecord,
  notice: BillingNotice,
  name: string,
): Promise<Step> {
  const { organizationId } = wallet;
  const email = billingEmail(organizationId, notice, `${organizationId}-${name}`);
  const release = walletRelease(wallet, { rechargeNotBefore: until.toISOString() });
  return writeStep({ wallet: release, check: balanceCheck(organizationId, until) }, [email]);
}

/** Returns the write of the wallet that ends its recharge. */
function walletRelease(
  { organizationId, rechargeId }: Pick<WalletRecord, "organizationId" | "rechargeId">,
  set: Pick<WalletRecord, "rechargeNotBefore">,
  remove: NonNullable<Changes<"wallet">["remove"]> = [],
): Update<"wallet"> {
  return updateOf(
    keys.wallet(organizationId),
    { set, remove: ["rechargeId", ...remove] },
    { is: { rechargeId } },
  );
}

/**
 * Ends a recharge whose payment failed: pauses auto-recharge, or switches it off after several failures, and notifies the
 * customer.
 * @returns `disturbed` when another change of the payment came first
 */
export async function endRecharge(
  payment: PaymentRecord,
  set: Pick<PaymentRecord, "failure" | "status">,
): Promise<Step> {
  const { organizationId, id, amountMicros } = payment;
  const billing = await readBilling(organizationId);
  const wallet = await readWallet(organizationId);
  const failures = billing.rechargeFailures + 1;
  const pauseMs = pausesMs[failures - 1];
  const isOff = pauseMs === undefined;
  const rechargeNotBefore = new Date(now().getTime() + (pauseMs ?? 0)).toISOString();
  const { failure = payment.failure } = set;
  const isSameMonth = billing.rechargeMonth === monthOf(new Date(payment.createdAt));
  const counters = {
    rechargeFailures: failures,
    rechargeFailure: failure,
    ...(isOff && billing.autoRecharge !== undefined
      ? { autoRecharge: { ...billing.autoRecharge, isEnabled: false } }
      : {}),
  };
  const email = billingEmail(
    organizationId,
    { what: "rechargeFailed", paymentId: id, isOff },
    `${id}-failed`,
  );
  const writes = {
    payment: paymentUpdate(payment, { ...set, failure }),
    billing: updateOf(
      keys.billing(organizationId),
      { set: counters, ...(isSameMonth ? { add: { rechargedMicros: -amountMicros } } : {}) },
      {
        is: {
          ...(isSameMonth ? { rechargeMonth: billing.rechargeMonth } : {}),
          // New settings begin a new count of failures, and stay switched on.
          ...(isOff ? { rechargeFailures: billing.rechargeFailures } : {}),
        },
      },
    ),
    // A customer who changed the settings meanwhile may have begun another recharge.
    wallet:
      wallet.rechargeId === id
        ? [walletRelease(wallet, { rechargeNotBefore }, isOff ? ["rechargeBelowMicros"] : [])]
        : [],
    retry: isOff ? [] : [balanceCheck(organizationId, new Date(rechargeNotBefore))],
  };
  return writeStep(writes, [email]);
}

/** Ends the failures in a row, after a recharge that succeeded. */
export async function noteRecharged({ organizationId, origin }: PaymentRecord): Promise<void> {
  if (origin !== "auto_recharge") return;
  const { rechargeFailures } = await readBilling(organizationId);
  if (rechargeFailures === 0) return;
  const changes = { set: { rechargeFailures: 0 }, remove: ["rechargeFailure"] } as const;
  await updateItem(BillingRecord, updateOf(keys.billing(organizationId), changes, { present: ["pk"] }));
}
