import { ApiError, invalidField } from "../../api/contract/errors.ts";
import type { CreatePaymentRequest, Payment } from "../../api/contract/payments.ts";
import { dayMs, hourMs, minuteMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import type { Attempt } from "../../platform/http/event.ts";
import { newId } from "../../platform/ids.ts";
import { isPaused } from "../../platform/jobs/pause.ts";
import { enqueue } from "../../platform/jobs/queue.ts";
import { dailyLimitReached, useToday } from "../../platform/limits/daily.ts";
import type { RateLimit } from "../../platform/limits/rate-limit.ts";
import { consume } from "../../platform/limits/sliding-window.ts";
import { log } from "../../platform/log.ts";
import { keys } from "../../platform/table/keys.ts";
import { firstItems } from "../../platform/table/lists.ts";
import { transact } from "../../platform/table/transact.ts";
import { checkOf } from "../../platform/table/write.ts";
import { checkDrawable } from "../invoices/characters.ts";
import { Buyer } from "../invoices/record.ts";
import { amountOf, microsOfField, microsOfText } from "../wallet/money.ts";
import { readWallet, walletClosed } from "../wallet/record.ts";
import { buyerOf, paymentMethodKinds, readBilling, type BillingRecord } from "./billing-record.ts";
import { checkCard, countProviderCall, withCustomer } from "./customers.ts";
import { consoleUrl } from "./links.ts";
import { paymentJob } from "./payment-job.ts";
import { paymentPut, PaymentRecord, toApiPayment, visitFields } from "./record.ts";
import { paymentSettings } from "./settings.ts";
import { taxMicrosOf, taxOf } from "./tax.ts";

/** How long a bank transfer may take before the payment expires. */
export const transferMs = 30 * dayMs;

/** The bank transfers of an organization that wait for the money, and those that it announces in an hour, also at the same time. */
const maxPendingTransfers = 10;
const announcedTransfers: RateLimit = { name: "transfers", max: maxPendingTransfers, windowMs: hourMs };

/** The payments among which they are looked for, the newest ones. */
const paymentsSearched = 500;

/** The input of a new payment. */
interface NewPayment extends Pick<PaymentRecord, "amountMicros" | "method" | "organizationId" | "origin"> {
  readonly id?: string;
  readonly paymentMethodId?: string | undefined;
  readonly billing: BillingRecord;
}

/** Returns a new payment with its tax and its buyer, which do not change later. */
export function newPayment({ id = newId("pay"), billing, ...fields }: NewPayment): PaymentRecord {
  const tax = taxOf(billing.details);
  const taxMicros = taxMicrosOf(fields.amountMicros, tax);
  const createdAt = now();
  const isCard = fields.method === "card";
  const firstVisit = new Date(createdAt.getTime() + (isCard ? minuteMs : transferMs));
  return {
    ...fields,
    entity: "payment",
    id,
    provider: isCard ? "stripe" : "manual",
    status: "pending",
    taxMicros,
    totalMicros: fields.amountMicros + taxMicros,
    taxRate: tax.rate,
    taxNote: tax.note,
    buyer: billing.details === undefined ? null : Buyer.parse(billing.details),
    currency: config.currency(),
    refunds: [],
    disputes: [],
    unstored: [],
    createdAt: createdAt.toISOString(),
    version: 1,
    ...visitFields(fields, firstVisit.toISOString()),
  };
}

/**
 * Begins a payment: opens a checkout, queues the charge of a saved card, or returns how to transfer money. A checkout is opened before
 * the payment is recorded: without the record no one knows its address, so no one can pay there.
 * @param attempt the idempotent request whose response is stored
 * @throws ApiError VALIDATION_ERROR for an amount outside the bounds, an unknown card, or a name that invoices cannot show;
 *   PAYMENT_METHOD_DISABLED, PAYMENT_PROVIDER_UNAVAILABLE (also during a pause), WALLET_MISSING. RATE_LIMITED when saved
 *   cards were charged with the most for a day, or too many transfers announced. CONFLICT when too many of these wait.
 */
export async function createPayment(
  organizationId: string,
  request: CreatePaymentRequest,
  attempt?: Attempt,
): Promise<Payment> {
  const { method, paymentMethodId, saveCard, returnUrl = consoleUrl() } = request;
  if (!paymentMethodKinds().includes(method)) throw new ApiError("PAYMENT_METHOD_DISABLED");
  const amountMicros = paymentAmount("amount", request.amount);
  if (await isPaused("payments")) throw paymentsPaused();
  if ((await readWallet(organizationId)).closedAt !== undefined) throw walletClosed();
  const billing = await readBilling(organizationId);
  checkDrawable(await buyerOf(billing), "billing.");
  if (method !== "card" && paymentMethodId !== undefined) {
    throw invalidField("paymentMethodId", "is for payments by card");
  }
  if (method === "bank_transfer") await countTransfer(organizationId);
  const isSaved = paymentMethodId !== undefined;
  const origin = isSaved ? "saved_card" : "checkout";
  const fields = { organizationId, method, origin, amountMicros, billing } as const;
  let payment = newPayment({ ...fields, paymentMethodId });
  if (method === "card") {
    await countProviderCall(organizationId);
    if (isSaved) payment = { ...payment, providerAccount: await checkCard(billing, paymentMethodId) };
    else {
      const order = { payment, saveCard, returnUrl };
      const { sessionId, url, expiresAt, account } = await withCustomer(
        billing,
        async (provider, customerId) => provider.createCheckout({ ...order, customerId }),
      );
      const checkout = { providerSessionId: sessionId, checkoutUrl: url, checkoutExpiresAt: expiresAt };
      payment = { ...payment, ...checkout, providerAccount: account };
    }
  }
  const shown = toApiPayment(payment);
  const response = attempt === undefined ? [] : [attempt.complete(shown)];
  const limit = savedCardLimit();
  const charged = isSaved ? useToday(limit, organizationId, amountMicros) : [];
  // The organization may have been closed, and even erased, meanwhile.
  const wallet = checkOf(keys.wallet(organizationId), { present: ["pk"], absent: ["closedAt"] });
  const result = await transact({ payment: paymentPut(payment), charged, response, wallet });
  if (result.outcome === "rejected" && result.rejections.wallet !== undefined) throw walletClosed();
  if (result.outcome === "rejected" && result.rejections.charged !== undefined)
    throw dailyLimitReached(limit);
  // The response was rejected, because a later attempt at the same request replaced this attempt.
  if (result.outcome === "rejected") throw new ApiError("IDEMPOTENCY_IN_PROGRESS");
  // The payment is pending work, so a job that gets lost only delays it.
  if (isSaved) {
    await enqueue(paymentJob({ organizationId, paymentId: payment.id })).catch((error: unknown) => {
      log.warn("payment.not_queued", { organizationId, paymentId: payment.id, error });
    });
  }
  return shown;
}

/**
 * Counts the announcement of a bank transfer.
 * @throws ApiError CONFLICT when too many wait for the money, RATE_LIMITED when too many were announced in the last hour
 */
async function countTransfer(organizationId: string): Promise<void> {
  const { pk } = keys.payment(organizationId, "");
  const list = { pk, newestFirst: true, consistent: true, skipsUnreadable: true };
  const newest = await firstItems(PaymentRecord, list, paymentsSearched);
  const pending = newest.filter(({ method, status }) => method === "bank_transfer" && status === "pending");
  if (pending.length >= maxPendingTransfers) {
    throw new ApiError("CONFLICT", {
      message: `At most ${maxPendingTransfers} bank transfers can wait for the money. Cancel one that you will not pay.`,
    });
  }
  await consume(announcedTransfers, organizationId);
}

export function paymentsPaused(): ApiError {
  return new ApiError("PAYMENT_PROVIDER_UNAVAILABLE", { message: "Payments are paused. Try again later." });
}

/** Returns the limit of what the saved cards of an organization are charged in a day, in micro-units. */
export function savedCardLimit(): { readonly name: string; readonly max: number } {
  const { dailyMaximum, maximum } = paymentSettings();
  const max = microsOfText(dailyMaximum ?? "") ?? 5 * (microsOfText(maximum) ?? 0);
  return { name: "saved-cards", max };
}

/**
 * Checks the amount of a payment against the stage's bounds.
 * @returns it in micro-units
 * @throws ApiError VALIDATION_ERROR about the field
 */
export function paymentAmount(field: string, amount: number): number {
  const { minimum, maximum } = paymentSettings();
  const [least = 0, most = Infinity] = [microsOfText(minimum), microsOfText(maximum)];
  const micros = microsOfField(field, amount);
  if (micros >= least && micros <= most) return micros;
  const bounds = `from ${amountOf(least)} to ${amountOf(most)} ${config.currency()}`;
  throw invalidField(field, `must be an amount ${bounds}`);
}
