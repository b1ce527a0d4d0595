import type { Stripe } from "stripe";
import * as z from "zod/mini";

import { Payment, type PaymentFailure } from "../../api/contract/payments.ts";
import { idSchema } from "../../api/contract/primitives.ts";
import { epochSeconds, secondMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { momentOf } from "../../platform/ids.ts";
import { Buyer } from "../invoices/record.ts";
import {
  unpaid,
  type ListedPayment,
  type ProviderDispute,
  type ProviderNotice,
  type ProviderPayment,
  type ProviderRefund,
} from "./provider.ts";
import type { PaymentRecord } from "./record.ts";

/*
 * Reads what Stripe returns.
 */

const OwnIds = z.object({ organizationId: idSchema("org"), paymentId: idSchema("pay") });

/** The clock of Stripe may differ from ours. */
const clockErrorMs = 60 * secondMs;

/**
 * Returns the account of a secret key with its mode, because both modes have the same id.
 * @returns undefined for a restricted key that may not read it
 */
export async function accountOf(stripe: Stripe, secretKey: string): Promise<string | undefined> {
  try {
    const { id } = await stripe.accounts.retrieveCurrent();
    return `${id} ${/^.._live_/.test(secretKey) ? "live" : "test"}`;
  } catch (error) {
    if (Object(error).statusCode === 403) return undefined;
    throw error;
  }
}

/** The parts of a charge that its state is read from. */
export const expanded = { expand: ["latest_charge.balance_transaction"] };

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
  const unknown: string[] = [];
  const { latest_charge: latest } = intent;
  const paid = typeof latest === "object" ? latest : undefined;
  const transaction =
    typeof paid?.balance_transaction === "object" ? (paid.balance_transaction ?? undefined) : undefined;
  // Stripe converts to the currency of the operator's account. Its rate is that of the payment's own two amounts.
  const converted: Conversion = (minorUnits, from) => {
    if (from === intent.currency) return minorUnits;
    if (transaction?.currency !== from || transaction.amount <= 0) return undefined;
    return Math.round((minorUnits * intent.amount_received) / transaction.amount);
  };
  if (known.length > 0 || (paid?.amount_refunded ?? 0) > 0) {
    for await (const each of stripe.refunds.list({ payment_intent, limit: 100 }))
      refunds.push(refundOf(each));
  }
  if (paid?.disputed === true) {
    for await (const each of stripe.disputes.list({ payment_intent, limit: 100 })) {
      disputes.push(...disputeOf(each, intent.amount_received, converted));
      if (disputeStatuses[each.status] === undefined) unknown.push(`${each.id}: ${each.status}`);
    }
  }
  return {
    status: "succeeded",
    id: intent.id,
    minorUnits: intent.amount_received,
    currency,
    // A fee without a rate is not known later either.
    feeMinorUnits:
      transaction === undefined ? undefined : (converted(transaction.fee, transaction.currency) ?? 0),
    // Stripe lists the newest first.
    refunds: refunds.toReversed(),
    disputes: disputes.toReversed(),
    unknown,
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

/** Converts an amount to the currency of the payment. It returns undefined without a rate. */
type Conversion = (minorUnits: number, from: string) => number | undefined;

/** The meanings of the statuses of disputes. An inquiry has moved no money. */
const disputeStatuses: Readonly<Record<string, ProviderDispute["status"] | "inquiry" | "prevented">> = {
  warning_needs_response: "inquiry",
  warning_under_review: "inquiry",
  warning_closed: "inquiry",
  needs_response: "open",
  under_review: "open",
  // The bank has decided, and keeps the money during the appeal.
  appeal_needs_response: "lost",
  appeal_under_review: "lost",
  prevented: "prevented",
  lost: "lost",
  won: "won",
};

/** @param most the total of the payment: a dispute takes no more, whatever its own currency is */
function disputeOf(
  {
    id,
    amount,
    currency,
    status,
    reason,
    evidence_details: { due_by: dueBy },
    balance_transactions,
  }: Stripe.Dispute,
  most: number,
  converted: Conversion,
): ProviderDispute[] {
  const sumOf = (minorUnits: (each: Stripe.BalanceTransaction) => number): number =>
    balance_transactions.reduce((sum, each) => sum + (converted(minorUnits(each), each.currency) ?? 0), 0);
  const meaning = disputeStatuses[status];
  const isTaken = sumOf((each) => each.amount) < 0;
  const byMoney = meaning === "prevented" ? (isTaken ? "lost" : "won") : isTaken ? "open" : "inquiry";
  const outcome = meaning === undefined || meaning === "prevented" ? byMoney : meaning;
  if (outcome === "inquiry") return [];
  const taken = -sumOf((each) => Math.min(each.amount, 0));
  const minorUnits = converted(amount, currency) ?? (taken === 0 ? most : taken);
  const feeMinorUnits = sumOf((each) => each.fee);
  const dueAt = dueBy === null ? undefined : new Date(dueBy * secondMs).toISOString();
  const bounded = Math.min(Math.max(minorUnits, 1), most);
  return [{ id, minorUnits: bounded, feeMinorUnits, status: outcome, reason, dueAt }];
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

/** Returns the metadata of a payment, by which it is found and can be adopted without our record. */
export function metadataOf(payment: PaymentRecord): Record<string, string> {
  const { organizationId, id: paymentId, origin, amountMicros, taxRate, taxNote, buyer } = payment;
  // Stripe accepts 500 characters in a value, and may count some of these twice.
  const buyerParts = buyer === undefined ? [] : (JSON.stringify(buyer).match(/.{1,250}/gsu) ?? []);
  return {
    organizationId,
    paymentId,
    stage: config.stage(),
    origin,
    amountMicros: String(amountMicros),
    taxRate: String(taxRate),
    ...(taxNote === undefined ? {} : { taxNote }),
    ...Object.fromEntries(buyerParts.map((part, index) => [`buyer${index}`, part])),
  };
}

/** Reads the buyer from the metadata; undefined for a payment of an earlier release, and for one that was changed. */
function buyerIn({ metadata }: Stripe.PaymentIntent): PaymentRecord["buyer"] {
  let text = "";
  for (let index = 0; metadata[`buyer${index}`] !== undefined; index += 1) text += metadata[`buyer${index}`];
  try {
    return z.nullable(Buyer).parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function listedOf(intent: Stripe.PaymentIntent): ListedPayment {
  const { stage, origin, isOffSession, amountMicros, taxRate, taxNote } = intent.metadata;
  return {
    ...noticeOf(intent),
    providerPaymentId: intent.id,
    isSuccessful: intent.status === "succeeded",
    minorUnits: intent.amount_received,
    currency: intent.currency.toUpperCase(),
    createdAt: new Date(intent.created * secondMs).toISOString(),
    origin:
      Payment.shape.origin.safeParse(origin).data ?? (isOffSession === "true" ? "saved_card" : "checkout"),
    stage,
    terms:
      amountMicros === undefined
        ? undefined
        : { amountMicros: Number(amountMicros), taxRate: Number(taxRate), taxNote, buyer: buyerIn(intent) },
  };
}

function noticeOf({ id, metadata }: Stripe.PaymentIntent): ProviderNotice {
  return {
    providerPaymentId: id,
    organizationId: metadata["organizationId"],
    paymentId: metadata["paymentId"],
  };
}

/**
 * Returns the ids in the metadata of an event's object, by which the queue groups its jobs. Other programs of the same account
 * may use the names for ids of their own.
 */
function ownIdsIn(metadata: Stripe.Metadata | null): Pick<ProviderNotice, "organizationId" | "paymentId"> {
  return OwnIds.safeParse(metadata).data ?? {};
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
  if (object.object === "payment_intent") {
    return { providerPaymentId: object.id, ...ownIdsIn(object.metadata) };
  }
  if (object.object === "checkout.session") {
    const { metadata, mode, payment_intent } = object;
    return mode === "payment"
      ? { providerPaymentId: idOf(payment_intent), ...ownIdsIn(metadata) }
      : undefined;
  }
  const isPartOfPayment =
    object.object === "charge" || object.object === "refund" || object.object === "dispute";
  return isPartOfPayment ? { providerPaymentId: idOf(object.payment_intent) } : undefined;
}

/** Finds the charge that an earlier call made for a payment. Lists are consistent, searches are not. */
export async function findCharge(
  stripe: Stripe,
  { id, createdAt }: PaymentRecord,
  filter: { readonly customer?: string },
): Promise<Stripe.PaymentIntent | undefined> {
  // After a restore, the record may be a second one of the same recharge.
  const beganMs = Math.min(Date.parse(createdAt), momentOf(id).getTime());
  const gte = epochSeconds(new Date(beganMs - clockErrorMs));
  const list = { ...filter, created: { gte }, limit: 100, expand: [`data.${expanded.expand[0]}`] };
  for await (const intent of stripe.paymentIntents.list(list)) {
    // A checkout of the same payment has a charge of its own.
    if (intent.metadata["paymentId"] === id && intent.metadata["isOffSession"] === "true") return intent;
  }
  return undefined;
}
