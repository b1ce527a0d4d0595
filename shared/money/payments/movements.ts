import { ApiError } from "../../api/contract/errors.ts";
import { billingEmail, operatorsEmail, owedEmail, type QueuedEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmail } from "../../notices/emails/queue-email.ts";
import { now } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { type Step, stepOf } from "../../platform/table/transact.ts";
import type { Write } from "../../platform/table/write.ts";
import { microsOfMinorUnits } from "../wallet/money.ts";
import { postToWallet } from "../wallet/post.ts";
import { referenceOf, type Movement } from "../wallet/reference.ts";
import type { ProviderDispute, ProviderRefund } from "./provider.ts";
import {
  paymentPut,
  paymentUpdate,
  restBefore,
  visitFields,
  type DisputeRecord,
  type PaymentRecord,
  type RefundRecord,
} from "./record.ts";
import { changePayment } from "./steps.ts";
import { netOf } from "./tax.ts";

/*
 * The movements of a wallet that a payment causes. Each is one transaction: the balance, its ledger entry, the reference that
 * is unique for ever, and the payment. Each is `disturbed` when another change of the payment came first.
 */

/**
 * Credits a payment that succeeded.
 * @param providerPaymentId unique over all payments of the stage, and the reference of the ledger entry
 * @param options `isNew`: whether the payment is recorded with its credit; `reason`: the ledger shows it to the customer;
 *   `others`: more writes of the transaction
 */
export async function credit(
  payment: PaymentRecord,
  providerPaymentId: string,
  {
    isNew = false,
    reason = payment.method === "card" ? "Card payment" : "Bank transfer",
    others = [],
  }: { isNew?: boolean; reason?: string; others?: readonly Write[] } = {},
): Promise<Step> {
  const at = now().toISOString();
  const changes = {
    providerPaymentId,
    status: "succeeded",
    succeededAt: at,
    ...visitFields(payment, at),
  } as const;
  return move(
    payment,
    { type: "payment", amountMicros: payment.amountMicros, reference: providerPaymentId },
    {
      reason,
      changes,
      isNew,
      others: [owedEmail(receiptOf(payment)), ...others],
    },
  );
}

/** Returns the job that emails the receipt of a payment. The transaction of the credit owes it. */
export function receiptOf({ organizationId, id: paymentId }: PaymentRecord): QueuedEmail {
  return billingEmail(organizationId, { what: "paymentReceived", paymentId }, `${paymentId}-received`);
}

interface Effects {
  /** The ledger shows it to the customer. */
  readonly reason: string;
  /** The changes of the payment. */
  readonly changes: Partial<PaymentRecord>;
  /** Whether the payment is recorded with the movement. */
  readonly isNew?: boolean;
  readonly others?: readonly Write[];
}

/**
 * Moves money between the wallet and a payment.
 * @returns `disturbed` when another change of the payment came first
 * @throws ApiError INSUFFICIENT_BALANCE when a refund is not covered; WALLET_MISSING; CONFLICT for a
 *   transfer of an erased organization
 */
export async function move(
  payment: PaymentRecord,
  movement: Omit<Movement, "organizationId">,
  { reason, changes, isNew = false, others = [] }: Effects,
): Promise<Step> {
  const write = isNew ? paymentPut({ ...payment, ...changes }) : paymentUpdate(payment, changes);
  const { organizationId, id: paymentId } = payment;
  const wallet = await postToWallet({
    ...movement,
    organizationId,
    paymentId,
    reason,
    // Money at the provider has come in any case. A transfer can be returned.
    needsCustomer: movement.type === "payment" && payment.provider === "manual",
    together: (after) => [referenceOf({ ...movement, organizationId }, after), write, ...others],
  });
  return stepOf(wallet !== undefined);
}

/** Applies the state of a refund at the provider: one of ours, or one that the operator made there. */
export async function applyRefund(payment: PaymentRecord, refund: ProviderRefund): Promise<Step> {
  const { id: providerRefundId, status } = refund;
  const record = findRefund(payment, refund);
  if (record === undefined) return status === "failed" ? "applied" : adoptRefund(payment, refund);
  if (record.status === "failed") {
    // A refund that has failed stays so.
    if (status === "failed" || record.providerRefundId === providerRefundId) return "applied";
    // It counted as failed while the provider was not found, and its money returned to the wallet. The provider made it.
    const { organizationId, id: paymentId } = payment;
    countMetrics({ PaymentDifferences: 1 });
    log.error("payment.refund_made_after_failure", { organizationId, paymentId });
    return adoptRefund(payment, { ...refund, refundId: undefined });
  }
  const isSame = record.status === status && record.providerRefundId === providerRefundId;
  const isLate = record.status === "succeeded" && status === "pending";
  if (isSame || isLate) return "applied";
  const refunds = payment.refunds.map((each) =>
    each.id === record.id ? { ...record, providerRefundId, status } : each,
  );
  if (status !== "failed") return changePayment(payment, { refunds });
  const { id, amountMicros } = record;
  const movement = { type: "payment_refund", amountMicros, reference: `${id}-failed` } as const;
  const changes = { refunds, ...visitFields(payment, now().toISOString()) };
  return move(payment, movement, { reason: "Refund failed", changes });
}

/** Returns the record of a refund at the provider: one under its own id, or else the one that the gateway requested. */
function findRefund({ refunds }: PaymentRecord, { id, refundId }: ProviderRefund): RefundRecord | undefined {
  return refunds.find((each) => each.id === id) ?? refunds.find((each) => each.id === refundId);
}

/**
 * Records a refund that was made at the provider, or one of ours that a restore of the table has lost. If the balance does
 * not cover it, it counts as a chargeback: the money has left in any case.
 */
async function adoptRefund(
  payment: PaymentRecord,
  { id: providerRefundId, refundId: id = providerRefundId, minorUnits, status }: ProviderRefund,
): Promise<Step> {
  const at = now().toISOString();
  const totalMicros = microsOfMinorUnits(minorUnits);
  const amountMicros = netOf(totalMicros, payment, restBefore(totalMicros, payment));
  const refund = { id, providerRefundId, amountMicros, totalMicros, status, createdAt: at };
  const changes = { refunds: [...payment.refunds, refund], ...visitFields(payment, at) };
  const movement = { type: "payment_refund", amountMicros: -amountMicros, reference: id } as const;
  const effects = { reason: "Payment refunded", changes };
  try {
    return await move(payment, movement, effects);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === "INSUFFICIENT_BALANCE")) throw error;
    return move(payment, { ...movement, type: "chargeback" }, effects);
  }
}

/**
 * Applies the state of a dispute. When it opens, the bank has taken the money, so the wallet loses it. When it is won, also
 * by an appeal after it was lost, the money returns.
 */
export async function applyDispute(
  payment: PaymentRecord,
  { id, minorUnits, feeMinorUnits, status, reason, dueAt }: ProviderDispute,
): Promise<Step> {
  const at = now().toISOString();
  const record = payment.disputes.find((each) => each.id === id);
  const totalMicros = microsOfMinorUnits(minorUnits);
  const dispute: DisputeRecord = {
    id,
    amountMicros: netOf(totalMicros, payment, restBefore(totalMicros, payment)),
    totalMicros,
    openedAt: at,
    ...record,
    feeMicros: microsOfMinorUnits(feeMinorUnits),
    status,
    reason,
    dueAt,
    ...(status === "open" ? {} : { closedAt: at }),
  };
  const disputes = [...payment.disputes.filter((each) => each.id !== id), dispute];
  const changes = { disputes, ...visitFields(payment, at) };
  const { amountMicros } = dispute;
  if (record === undefined) {
    // Both movements of a dispute that was won before the gateway learned of it would cancel out.
    if (status === "won") return changePayment(payment, changes);
    const movement = { type: "chargeback", amountMicros: -amountMicros, reference: id } as const;
    const { organizationId, id: paymentId } = payment;
    const email = operatorsEmail({ what: "disputeOpened", organizationId, paymentId }, `${id}-opened`);
    const moved = await move(payment, movement, {
      reason: "Payment disputed",
      changes,
      others: [owedEmail(email)],
    });
    if (moved === "applied") await queueOwedEmail(email);
    return moved;
  }
  // Only an appeal changes the result of a dispute. Another state came late.
  if (record.status === "won" || (record.status === "lost" && status !== "won")) return "applied";
  if (status === "won") {
    const movement = { type: "chargeback", amountMicros, reference: `${id}-won` } as const;
    return move(payment, movement, { reason: "Dispute won", changes });
  }
  const isSame = record.feeMicros === dispute.feeMicros && record.dueAt === dueAt;
  if (record.status === status && isSame) return "applied";
  return changePayment(payment, changes);
}
