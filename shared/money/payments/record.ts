import * as z from "zod/mini";

import { orNotFound } from "../../api/contract/errors.ts";
import { PaymentFailure, PaymentMethodKind, PaymentStatus, providers } from "../../api/contract/payments.ts";
import type { Payment } from "../../api/contract/payments.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { pendingWorkFields, pendingWorkOf } from "../../platform/jobs/pending-work.ts";
import { keys } from "../../platform/table/keys.ts";
import { itemsIn } from "../../platform/table/lists.ts";
import { readWantedPage } from "../../platform/table/page.ts";
import { findItem } from "../../platform/table/read.ts";
import { insertOf, type Put, type Update, updateOf } from "../../platform/table/write.ts";
import { Buyer } from "../invoices/record.ts";
import { amountOf } from "../wallet/money.ts";
import { paymentSettings } from "./settings.ts";

/** Money that is paid back to the customer. It left the wallet when the refund was recorded. */
const RefundRecord = z.object({
  /** Our id, or that of the provider for a refund that was made there. */
  id: z.string(),
  providerRefundId: z.optional(z.string()),
  /** May be 0, because of rounding. */
  amountMicros: z.int().check(z.nonnegative()),
  /** Releases up to 0.4.0 may have stored 0 for the last refund of a payment. */
  totalMicros: z.int().check(z.nonnegative()),
  status: z.enum(["pending", "succeeded", "failed"]),
  reason: z.optional(z.string()),
  createdAt: z.string(),
  creditNote: z.optional(z.string()),
  /** The invoice that cancels the credit note of a refund that failed later. */
  reversal: z.optional(z.string()),
});
export type RefundRecord = z.infer<typeof RefundRecord>;

/** Money that the cardholder's bank took back. A lost dispute keeps it, a won one returns it to the wallet. */
const DisputeRecord = z.object({
  id: z.string(),
  /** May be 0, because of rounding. */
  amountMicros: z.int().check(z.nonnegative()),
  totalMicros: z.int().check(z.positive()),
  feeMicros: z._default(z.int(), 0),
  status: z.enum(["open", "won", "lost"]),
  reason: z.optional(z.string()),
  /** Until when an open dispute takes evidence, in ISO 8601. */
  dueAt: z.optional(z.string()),
  openedAt: z.string(),
  closedAt: z.optional(z.string()),
});
export type DisputeRecord = z.infer<typeof DisputeRecord>;

/**
 * A payment. The customer pays `totalMicros`: the amount for the wallet, and the tax. All amounts are whole minor units of
 * the currency, such as cents.
 */
export const PaymentRecord = z.object({
  entity: z.literal("payment"),
  id: z.string(),
  organizationId: z.string(),
  provider: z.enum(providers),
  method: PaymentMethodKind,
  origin: z.enum(["checkout", "saved_card", "auto_recharge", "operator"]),
  status: PaymentStatus,
  amountMicros: z.int().check(z.positive()),
  taxMicros: z.int().check(z.nonnegative()),
  totalMicros: z.int().check(z.positive()),
  /** In percent. */
  taxRate: z.number(),
  taxNote: z.optional(z.string()),
  /** The buyer whose tax it is; null for one without billing details. Payments of older releases have none. */
  buyer: z.optional(z.nullable(Buyer)),
  currency: z.string(),
  /** The account that has the payment at the provider, once it may have it. Releases up to 0.4.0 stored none. */
  providerAccount: z.optional(z.string()),
  /** The saved card to charge. */
  paymentMethodId: z.optional(z.string()),
  /** The provider's page, and when it expires. */
  providerSessionId: z.optional(z.string()),
  checkoutUrl: z.optional(z.string()),
  checkoutExpiresAt: z.optional(z.string()),
  /** The provider's id of the payment: unique over all payments of the stage once it succeeded. */
  providerPaymentId: z.optional(z.string()),
  failure: z.optional(PaymentFailure),
  /** The provider's fee, which the operator pays. `feeAt` is when the gateway learned it. */
  feeMicros: z.optional(z.int()),
  feeAt: z.optional(z.string()),
  refunds: z._default(z.array(RefundRecord), []),
  disputes: z._default(z.array(DisputeRecord), []),
  invoiceNumber: z.optional(z.string()),
  /** Documents that are issued and not in the bucket yet. */
  unstored: z._default(z.array(z.string()), []),
  createdAt: z.string(),
  succeededAt: z.optional(z.string()),
  /** Grows with each change, so that concurrent changes are noticed. */
  version: z.int(),
  /** Present until the payment is final: see `pending-work.ts`. */
  ...pendingWorkFields,
});
export type PaymentRecord = z.infer<typeof PaymentRecord>;

/** The names of a payment. */
export interface PaymentKey {
  readonly organizationId: string;
  readonly paymentId: string;
}

/** Returns the payment as it is now; undefined when there is none. */
export async function findPayment({
  organizationId,
  paymentId,
}: PaymentKey): Promise<PaymentRecord | undefined> {
  return findItem(PaymentRecord, keys.payment(organizationId, paymentId), { consistent: true });
}

/**
 * Returns the payment as it is now.
 * @throws ApiError NOT_FOUND
 */
export async function readPayment(key: PaymentKey): Promise<PaymentRecord> {
  return orNotFound(await findPayment(key));
}

/** Returns the write of a new payment. It fails if the payment exists. */
export function paymentPut(payment: PaymentRecord): Put {
  return insertOf(keys.payment(payment.organizationId, payment.id), payment);
}

/** Returns an update that requires the version that was read. */
export function paymentUpdate(
  { organizationId, id, version }: PaymentRecord,
  set: Partial<PaymentRecord>,
): Update<"payment"> {
  return updateOf(
    keys.payment(organizationId, id),
    { set: { ...set, version: version + 1 } },
    { is: { version } },
  );
}

/** Returns the fields that list a payment in the pending-work index. @param visitAt in ISO 8601 */
export function visitFields(
  { organizationId }: Pick<PaymentRecord, "organizationId">,
  visitAt: string,
): Required<Pick<PaymentRecord, "pendingWork" | "visitAt">> {
  return { pendingWork: pendingWorkOf("PAYMENT", organizationId), visitAt };
}

/** Returns the open dispute of a payment. */
export function openDisputeOf({ disputes }: PaymentRecord): DisputeRecord | undefined {
  return disputes.find(({ status }) => status === "open");
}

/** Compares payments by the date until which their open dispute takes evidence. */
export function byDueDate(one: PaymentRecord, other: PaymentRecord): number {
  const dueAt = (payment: PaymentRecord): string => openDisputeOf(payment)?.dueAt ?? "";
  return dueAt(one).localeCompare(dueAt(other));
}

/** Returns what is left of a payment: what was neither paid back nor taken back. */
export function restOf({
  amountMicros,
  totalMicros,
  refunds,
  disputes,
}: PaymentRecord): Pick<PaymentRecord, "amountMicros" | "totalMicros"> {
  const rest = { amountMicros, totalMicros };
  for (const gone of [...refunds, ...disputes]) {
    if (gone.status === "failed" || gone.status === "won") continue;
    rest.amountMicros -= gone.amountMicros;
    rest.totalMicros -= gone.totalMicros;
  }
  return rest;
}

/** Whether a refund is recorded and not known to the provider yet. */
export function isUnsubmitted({ status, providerRefundId }: RefundRecord): boolean {
  return status === "pending" && providerRefundId === undefined;
}

/**
 * Returns what was left of a payment when the provider accepted a part of its total. Where that is more than the rest, the
 * provider rejects our last refunds, which it does not have yet.
 */
export function restBefore(totalMicros: number, payment: PaymentRecord): ReturnType<typeof restOf> {
  const rest = restOf(payment);
  for (const refund of payment.refunds.filter(isUnsubmitted).toReversed()) {
    if (totalMicros <= rest.totalMicros) break;
    rest.amountMicros += refund.amountMicros;
    rest.totalMicros += refund.totalMicros;
  }
  return rest;
}

/** Yields the payments of an organization since a moment, or all, the first ones first. */
export function paymentsOf(organizationId: string, since = new Date(0)): AsyncGenerator<PaymentRecord> {
  const { pk, sk: from } = keys.payment(organizationId, firstIdAt("pay", since));
  return itemsIn(PaymentRecord, { pk, from, consistent: true });
}

/** Returns a page of an organization's payments, newest first. */
export async function listPayments(organizationId: string, query: PageQuery): Promise<Page<Payment>> {
  const list = { pk: keys.payment(organizationId, "").pk, newestFirst: true };
  const page = await readWantedPage(PaymentRecord, list, query, () => true);
  return { rows: page.rows.map(toApiPayment), meta: page.meta };
}

/** The organization's reference for bank transfers: the operator finds the organization by it. */
export function transferReference(organizationId: string): string {
  return organizationId.slice(-10);
}

export function toApiPayment(payment: PaymentRecord): Payment {
  const { status, method, organizationId, refunds, disputes } = payment;
  const isPending = status === "pending";
  const isTransfer = isPending && method === "bank_transfer";
  const refundedMicros = refunds
    .filter((refund) => refund.status !== "failed")
    .reduce((sum, { amountMicros }) => sum + amountMicros, 0);
  return {
    id: payment.id,
    status,
    method,
    origin: payment.origin,
    amount: amountOf(payment.amountMicros),
    tax: amountOf(payment.taxMicros),
    total: amountOf(payment.totalMicros),
    currency: payment.currency,
    checkoutUrl: isPending ? payment.checkoutUrl : undefined,
    instructions: isTransfer ? paymentSettings().bankTransfer : undefined,
    reference: isTransfer ? transferReference(organizationId) : undefined,
    failure: status === "succeeded" ? undefined : payment.failure,
    refunded: refundedMicros === 0 ? undefined : amountOf(refundedMicros),
    dispute: disputes.at(-1)?.status,
    invoiceNumber: payment.invoiceNumber,
    createdAt: payment.createdAt,
    succeededAt: payment.succeededAt,
  };
}
