import { billingEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmail } from "../../notices/emails/queue-email.ts";
import { dayMs, now } from "../../platform/clock.ts";
import { isPaused } from "../../platform/jobs/pause.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { keys } from "../../platform/table/keys.ts";
import type { Step } from "../../platform/table/transact.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { microsOfMinorUnits, minorUnitsOf } from "../wallet/money.ts";
import { requestRecharge } from "../wallet/recharge.ts";
import { findWallet } from "../wallet/record.ts";
import { readBilling } from "./billing-record.ts";
import { transferMs } from "./create.ts";
import { withCustomer } from "./customers.ts";
import { issueDocuments } from "./issue-documents.ts";
import { consoleUrl } from "./links.ts";
import { applyDispute, applyRefund, credit, receiptOf } from "./movements.ts";
import { isProvenMissing, reportMissing, stateOf } from "./provider-state.ts";
import { ProviderUnavailableError, type ProviderPayment } from "./provider.ts";
import { endRecharge, noteRecharged } from "./recharge.ts";
import { findPayment, isUnsubmitted, PaymentRecord, paymentUpdate, type PaymentKey } from "./record.ts";
import { submitRefunds } from "./refund.ts";
import { endVisits, maxRetryMs, maxVisitMs, scheduleVisit } from "./schedule.ts";
import { applyStep, changePayment, writeStep } from "./steps.ts";

/*
 * Brings a payment to the state that it has at the provider, in steps that are applied once. So any number of webhooks, visits
 * and crashes have the same result.
 */

/**
 * Processes a payment until nothing is left to do now. During a pause it stays as it is.
 * @returns the payment; undefined when there is none
 * @throws Error when the provider cannot be reached or another change came first: repeat it
 */
export async function processPayment(key: PaymentKey): Promise<PaymentRecord | undefined> {
  const found = await findPayment(key);
  if (found === undefined || (await isPaused("payments"))) return found;
  try {
    return await processFound(key, found);
  } catch (error) {
    // If the table fails now, the payment stays due.
    const payment = await findPayment(key).catch(() => undefined);
    if (payment?.status === "succeeded" && isProvenMissing(payment, error)) {
      reportMissing(payment);
      return endMissing(key, payment);
    }
    if (payment?.pendingWork !== undefined) await scheduleVisit(payment, maxRetryMs).catch(() => undefined);
    throw error;
  }
}

async function processFound(key: PaymentKey, found: PaymentRecord): Promise<PaymentRecord> {
  if (found.provider === "stripe") await applyProviderState(key, found);
  else await expireTransfer(found);
  let payment: PaymentRecord;
  do {
    await submitRefunds(key);
    payment = await issueDocuments(key);
    // A refund that was recorded in between must not wait for the next visit.
  } while (payment.refunds.some(isUnsubmitted));
  // The receipt names the invoice. If it is queued again, it is still one email.
  const isNew = found.status !== payment.status || found.invoiceNumber !== payment.invoiceNumber;
  if (isNew && payment.status === "succeeded") await queueOwedEmail(receiptOf(payment));
  await scheduleVisit(payment);
  return payment;
}

/** Reads the payment at the provider, and applies the difference. */
async function applyProviderState(key: PaymentKey, first: PaymentRecord): Promise<void> {
  const state = await stateOf(first);
  const { account: providerAccount, status, failure } = state;
  if (first.providerAccount === undefined && providerAccount !== undefined)
    await applyStep(key, async (payment) => changePayment(payment, { providerAccount }));
  if (status === "succeeded") await applySuccess(key, first, state);
  else if (status === "unauthenticated") await applyStep(key, openRecovery);
  else if (status !== "pending") await applyStep(key, async (payment) => fail(payment, { status, failure }));
}

/** Credits a payment that succeeded at the provider, and applies what followed there: its fee, refunds and disputes. */
async function applySuccess(key: PaymentKey, first: PaymentRecord, state: ProviderPayment): Promise<void> {
  if (!hasRightTotal(first, state)) return;
  await applyStep(key, async (payment) =>
    payment.status === "succeeded" ? "applied" : credit(payment, state.id ?? ""),
  );
  if (first.status !== "succeeded") await noteRecharged(first);
  await recordFee(key, state);
  // Failed ones first: their parts of the total are free for the others.
  for (const refund of state.refunds.toSorted(
    (a, b) => Number(b.status === "failed") - Number(a.status === "failed"),
  ))
    await applyStep(key, async (payment) => applyRefund(payment, refund));
  for (const dispute of state.disputes)
    await applyStep(key, async (payment) => applyDispute(payment, dispute));
  for (const difference of state.unknown ?? []) {
    countMetrics({ PaymentDifferences: 1 });
    log.warn("payment.status_unknown", { ...key, difference });
  }
  const wallet = await findWallet(key.organizationId);
  if (wallet !== undefined) await requestRecharge(wallet);
}

/** Reports a payment whose amount or currency differs at the provider. It is not credited: the operator has to decide. */
function hasRightTotal(payment: PaymentRecord, { minorUnits, currency, id }: ProviderPayment): boolean {
  if (microsOfMinorUnits(minorUnits) === payment.totalMicros && currency === payment.currency) return true;
  const { organizationId, id: paymentId } = payment;
  countMetrics({ PaymentDifferences: 1 });
  log.error("payment.amount_differs", { organizationId, paymentId, providerPaymentId: id });
  return false;
}

async function recordFee(key: PaymentKey, { feeMinorUnits }: ProviderPayment): Promise<void> {
  if (feeMinorUnits === undefined) return;
  const set = { feeMicros: microsOfMinorUnits(feeMinorUnits), feeAt: now().toISOString() };
  const update = updateOf(
    keys.payment(key.organizationId, key.paymentId),
    { set, add: { version: 1 } },
    { absent: ["feeAt"] },
  );
  await updateItem(PaymentRecord, update);
}

/** How long a credited payment is looked for that the provider does not have. */
const missingMs = 30 * dayMs;

/**
 * Ends a credited payment that the provider does not have. Refunds that were not submitted return their money. Its visits
 * end a month after its last refund or dispute.
 */
export async function endMissing(key: PaymentKey, payment: PaymentRecord): Promise<PaymentRecord> {
  for (const { id, totalMicros } of payment.refunds.filter(isUnsubmitted)) {
    const failed = { id, minorUnits: minorUnitsOf(totalMicros), status: "failed" } as const;
    await applyStep(key, async (present) => applyRefund(present, failed));
  }
  const changed = await issueDocuments(key);
  const { createdAt, refunds, disputes } = payment;
  const moments = [
    createdAt,
    ...refunds.map((each) => each.createdAt),
    ...disputes.map((each) => each.openedAt),
  ];
  const lastMs = Math.max(...moments.map((moment) => Date.parse(moment)));
  if (now().getTime() - lastMs < missingMs) await scheduleVisit(changed, maxVisitMs);
  else await endVisits(changed);
  return changed;
}

/** Opens a checkout for a charge that the bank lets only the cardholder complete, and emails its link. */
async function openRecovery(payment: PaymentRecord): Promise<Step> {
  if (payment.status !== "pending" || payment.providerSessionId !== undefined) return "applied";
  const failure = "authentication_required";
  const order = { payment, saveCard: false, returnUrl: consoleUrl() };
  const checkout = await withCustomer(
    await readBilling(payment.organizationId),
    async (provider, customerId) => provider.createCheckout({ ...order, customerId }),
  ).catch((error: unknown) => {
    if (ProviderUnavailableError.rejectedBy(Object(error).cause) === undefined) throw error;
    return undefined;
  });
  if (checkout === undefined) return fail(payment, { status: "failed", failure });
  const { sessionId, url, expiresAt } = checkout;
  const at = { checkoutUrl: url, checkoutExpiresAt: expiresAt };
  const set = { providerSessionId: sessionId, ...at, failure } as const;
  const { organizationId, id: paymentId } = payment;
  const notice = { what: "authenticationRequired", paymentId } as const;
  const email = billingEmail(organizationId, notice, `${paymentId}-authentication`);
  return writeStep({ payment: paymentUpdate(payment, set) }, [email]);
}

/** Ends a payment that was not made and is not expected any more. */
export async function expire(payment: PaymentRecord): Promise<Step> {
  return fail(payment, { status: "expired" });
}

/** Ends a payment that was not made. A late success still changes it. */
async function fail(payment: PaymentRecord, set: Pick<PaymentRecord, "failure" | "status">): Promise<Step> {
  if (payment.status !== "pending") return "applied";
  return payment.origin === "auto_recharge" ? endRecharge(payment, set) : changePayment(payment, set);
}

/** Ends a bank transfer that never arrived. The operator can still record it. */
async function expireTransfer(payment: PaymentRecord): Promise<void> {
  const isLate = now().getTime() - Date.parse(payment.createdAt) >= transferMs;
  if (isLate) await expire(payment);
}
