import type { Stripe } from "stripe";

import type { PaymentFailure } from "../contract/payments.ts";
import {
  unpaid,
  type ProviderDispute,
  type ProviderNotice,
  type ProviderPayment,
  type ProviderRefund,
} from "./provider.ts";

/*
 * Reads what Stripe returns.
 */

/** Returns the state of a charge of a saved card. */
export async function stateOfCharge(stripe: Stripe, intent: Stripe.PaymentIntent): Promise<ProviderPayment> {
  if (intent.status === "succeeded") return stateOfIntent(stripe, intent, []);
  const failure = failureOf(intent.last_payment_error);
  const currency = intent.currency.toUpperCase();
  if (intent.status === "processing") return { ...unpaid, status: "pending", currency };
  const isOpen = failure === "authentication_required" || intent.status === "requires_action";
  return { ...unpaid, status: isOpen ? "unauthenticated" : "failed", failure, currency };
}

/** Reads the state of a payment, with its refunds and disputes if there are any. */
export async function stateOfIntent(
  stripe: Stripe,
  intent: Stripe.PaymentIntent,
  known: readonly unknown[],
): Promise<ProviderPayment> {
  const currency = intent.currency.toUpperCase();
  if (intent.status !== "succeeded") return { ...unpaid, status: "pending", currency };
  const payment_intent = intent.id;
  const refunds: ProviderRefund[] = [];
  const disputes: ProviderDispute[] = [];
  const { latest_charge: latest } = intent;
  const paid = typeof latest === "object" && latest !== null ? latest : undefined;
  if (known.length > 0 || (paid?.amount_refunded ?? 0) > 0) {
    for await (const each of stripe.refunds.list({ payment_intent, limit: 100 }))
      refunds.push(refundOf(each));
  }
  if (paid?.disputed === true) {
    for await (const each of stripe.disputes.list({ payment_intent, limit: 100 }))
      disputes.push(...disputeOf(each));
  }
  const transaction = paid?.balance_transaction;
  const fee = typeof transaction === "object" && transaction !== null ? transaction.fee : undefined;
  return {
    status: "succeeded",
    id: intent.id,
    minorUnits: intent.amount_received,
    currency,
    feeMinorUnits: fee,
    // Stripe lists the newest first.
    refunds: refunds.toReversed(),
    disputes: disputes.toReversed(),
  };
}

export function refundOf({ id, amount, status, metadata }: Stripe.Refund): ProviderRefund {
  const isFailed = status === "failed" || status === "canceled";
  return {
    id,
    refundId: metadata?.["refundId"],
    minorUnits: amount,
    status: isFailed ? "failed" : status === "succeeded" ? "succeeded" : "pending",
  };
}

/** An inquiry, which Stripe calls a warning, has moved no money. */
function disputeOf({ id, amount, status, balance_transactions }: Stripe.Dispute): ProviderDispute[] {
  if (status.startsWith("warning")) return [];
  const fee = balance_transactions.reduce((sum, each) => sum + each.fee, 0);
  const outcome = (["won", "lost"] as const).find((final) => final === status) ?? "open";
  return [{ id, minorUnits: amount, feeMinorUnits: fee, status: outcome }];
}

function failureOf(error: Stripe.PaymentIntent.LastPaymentError | null): PaymentFailure {
  if (error?.code === "authentication_required") return "authentication_required";
  if (error?.code === "expired_card") return "card_expired";
  if (error?.decline_code === "authentication_required") return "authentication_required";
  if (error?.decline_code === "insufficient_funds") return "insufficient_funds";
  return error?.type === "card_error" ? "card_declined" : "provider_error";
}

export function idOf(reference: string | { readonly id: string } | null | undefined): string | undefined {
  return typeof reference === "string" ? reference : reference?.id;
}

export function noticeOf({ id, metadata }: Stripe.PaymentIntent): ProviderNotice {
  return {
    providerPaymentId: id,
    organizationId: metadata["organizationId"],
    paymentId: metadata["paymentId"],
  };
}

/** The events that the operator enables for the gateway. */
export const stripeEvents = [
  "checkout.session.completed",
  "checkout.session.expired",
  "payment_intent.succeeded",
  "payment_intent.payment_failed",
  "charge.updated",
  "refund.created",
  "refund.updated",
  "refund.failed",
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
] as const satisfies readonly Stripe.Event["type"][];

/** Finds the payment that an event is about; undefined for an event that concerns none. */
export function noticeOfEvent({ data: { object } }: Stripe.Event): ProviderNotice | undefined {
  if (object.object === "payment_intent") return noticeOf(object);
  if (object.object === "checkout.session") {
    const { metadata, mode, payment_intent } = object;
    const { organizationId, paymentId } = metadata ?? {};
    return mode === "payment"
      ? { providerPaymentId: idOf(payment_intent), organizationId, paymentId }
      : undefined;
  }
  const isPartOfPayment =
    object.object === "charge" || object.object === "refund" || object.object === "dispute";
  return isPartOfPayment ? { providerPaymentId: idOf(object.payment_intent) } : undefined;
}
