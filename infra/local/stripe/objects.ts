/*
 * The objects of Stripe's API, with the fields that integrations use. Other objects are referred to by their ids. Amounts
 * are in minor units, times in seconds since the epoch.
 */

import type { SessionParams } from "./params.ts";

type Metadata = Readonly<Record<string, string>>;

/** The fields of every object. */
export interface Base {
  readonly id: string;
  readonly created: number;
  readonly livemode: false;
}

/** Why a bank did not approve a card. */
export interface CardProblem {
  readonly type: "card_error";
  readonly code: string;
  readonly decline_code?: string;
  readonly message: string;
}

type IntentStatus = "canceled" | "requires_action" | "requires_payment_method" | "succeeded";

export const newCustomer = (
  base: Base,
  from: { email: string | null; name: string | null; metadata: Metadata },
) => ({ ...base, ...from, object: "customer" as const });

export interface Expiry {
  readonly exp_month: number;
  readonly exp_year: number;
}

export interface BillingDetails {
  readonly name: string;
  readonly email: string | null;
  readonly address: { readonly country: string };
}

export const newPaymentMethod = (
  base: Base,
  card: Expiry & { readonly last4: string },
  billing_details: BillingDetails,
) => ({
  ...base,
  object: "payment_method" as const,
  type: "card" as const,
  card: { ...card, brand: "visa" },
  billing_details,
  /** Only a saved card has one. */
  customer: null as string | null,
});

export const newSession = (base: Base, params: SessionParams, checkoutUrl: string) => ({
  ...base,
  object: "checkout.session" as const,
  mode: params.mode,
  status: "open" as "complete" | "expired" | "open",
  payment_status: (params.mode === "setup" ? "no_payment_required" : "unpaid") as
    | "no_payment_required"
    | "paid"
    | "unpaid",
  amount_total: params.mode === "setup" ? null : totalOf(params),
  currency: params.line_items[0]?.price_data.currency ?? null,
  customer: params.customer,
  customer_details: null as BillingDetails | null,
  client_reference_id: params.client_reference_id,
  payment_intent: null as string | null,
  setup_intent: null as string | null,
  expires_at: params.expires_at ?? base.created + 86_400,
  success_url: params.success_url,
  cancel_url: params.cancel_url,
  url: `${checkoutUrl}/${base.id}` as string | null,
  metadata: params.metadata,
  /** No response has them. */
  params,
});

function totalOf({ line_items }: SessionParams): number {
  return line_items.reduce((sum, { quantity, price_data }) => sum + quantity * price_data.unit_amount, 0);
}

export const newSetupIntent = (base: Base, from: { customer: string | null; metadata: Metadata }) => ({
  ...base,
  ...from,
  object: "setup_intent" as const,
  usage: "off_session",
  status: "requires_payment_method" as IntentStatus,
  payment_method: null as string | null,
  last_setup_error: null as CardProblem | null,
});

export const newAccount = (base: Base) => ({ ...base, object: "account" as const });

interface PaymentFields {
  readonly amount: number;
  readonly currency: string;
  readonly customer: string | null;
  readonly setup_future_usage?: "off_session" | null;
  readonly metadata: Metadata;
}

export const newPaymentIntent = (base: Base, from: PaymentFields) => ({
  ...base,
  object: "payment_intent" as const,
  amount: from.amount,
  currency: from.currency,
  customer: from.customer,
  setup_future_usage: from.setup_future_usage ?? null,
  metadata: from.metadata,
  status: "requires_payment_method" as IntentStatus,
  amount_received: 0,
  payment_method: null as string | null,
  last_payment_error: null as CardProblem | null,
  latest_charge: null as string | null,
});

export const newCharge = (base: Base, intent: PaymentIntent, problem?: CardProblem) => ({
  ...base,
  object: "charge" as const,
  status: problem === undefined ? ("succeeded" as const) : ("failed" as const),
  paid: problem === undefined,
  failure_code: problem?.code ?? null,
  amount: intent.amount,
  amount_refunded: 0,
  refunded: false,
  disputed: false,
  currency: intent.currency,
  customer: intent.customer,
  payment_intent: intent.id,
  payment_method: intent.payment_method,
  balance_transaction: null as string | null,
  metadata: intent.metadata,
});

/** @param amount what the account gets, before the fee */
export const newBalanceTransaction = (
  base: Base,
  source: { readonly id: string; readonly currency: string },
  { type, amount, fee = 0 }: { type: string; amount: number; fee?: number },
) => ({
  ...base,
  object: "balance_transaction" as const,
  type,
  source: source.id,
  currency: source.currency,
  amount,
  fee,
  net: amount - fee,
});

export function setRefunded(charge: Charge, amount: number): void {
  charge.amount_refunded = amount;
  charge.refunded = amount === charge.amount;
}

export const newRefund = (base: Base, charge: Charge, amount: number, metadata: Metadata) => ({
  ...base,
  object: "refund" as const,
  status: "succeeded" as "failed" | "pending" | "succeeded",
  amount,
  currency: charge.currency,
  charge: charge.id,
  payment_intent: charge.payment_intent,
  balance_transaction: null as string | null,
  metadata,
});

/** How long a cardholder's bank takes evidence. */
const secondsForEvidence = 7 * 24 * 3_600;

export const newDispute = (base: Base, charge: Charge) => ({
  ...base,
  object: "dispute" as const,
  status: "needs_response" as "lost" | "needs_response" | "won",
  reason: "fraudulent",
  evidence_details: { due_by: base.created + secondsForEvidence },
  amount: charge.amount - charge.amount_refunded,
  currency: charge.currency,
  charge: charge.id,
  payment_intent: charge.payment_intent,
  balance_transactions: [] as BalanceTransaction[],
});

type BalanceTransaction = ReturnType<typeof newBalanceTransaction>;
export type Charge = ReturnType<typeof newCharge>;
export type PaymentIntent = ReturnType<typeof newPaymentIntent>;
type PaymentMethod = ReturnType<typeof newPaymentMethod>;
export type Session = ReturnType<typeof newSession>;
export type SetupIntent = ReturnType<typeof newSetupIntent>;

export type StripeObject =
  | BalanceTransaction
  | Charge
  | PaymentIntent
  | PaymentMethod
  | Session
  | SetupIntent
  | ReturnType<typeof newAccount>
  | ReturnType<typeof newCustomer>
  | ReturnType<typeof newDispute>
  | ReturnType<typeof newRefund>;
export type ObjectOf<Kind extends StripeObject["object"]> = Extract<StripeObject, { object: Kind }>;
