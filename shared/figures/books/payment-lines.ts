import { paymentsOf, type PaymentRecord } from "../../money/payments/record.ts";
import type { LedgerEntryRecord } from "../../money/wallet/ledger.ts";
import type { Period } from "./movements.ts";
import type { PaymentLine } from "./record.ts";

/**
 * Returns the payments, refunds and disputes of an organization in a period, as its ledger has them, and the provider's fees.
 * A fee belongs to the moment when it became known; that of a dispute is final when the dispute ends.
 */
export async function paymentLines(
  organizationId: string,
  { start, end }: Period,
  entries: readonly LedgerEntryRecord[],
): Promise<PaymentLine[]> {
  const payments = new Map<string, PaymentRecord>();
  const lines: PaymentLine[] = [];
  const addFee = (
    at: string | undefined,
    line: Pick<PaymentLine, "feeMicros" | "paymentId" | "providerId">,
  ) => {
    if (at === undefined || at < start || at >= end || line.feeMicros === 0) return;
    lines.push({ ...line, at, kind: "fee", amountMicros: 0 });
  };
  for await (const payment of paymentsOf(organizationId)) {
    const { id: paymentId, feeAt, feeMicros = 0, providerPaymentId: providerId } = payment;
    if (payment.status !== "succeeded") continue;
    payments.set(paymentId, payment);
    addFee(feeAt, { paymentId, providerId, feeMicros });
    for (const { id, closedAt, feeMicros: fee } of payment.disputes) {
      addFee(closedAt, { paymentId, providerId: id, feeMicros: fee });
    }
  }
  for (const entry of entries) lines.push(lineOf(entry, payments.get(entry.paymentId ?? "")));
  return lines.toSorted((one, other) => (one.at < other.at ? -1 : 1));
}

function lineOf(
  { type, createdAt, amountMicros, paymentId, reference }: LedgerEntryRecord,
  payment: PaymentRecord | undefined,
): PaymentLine {
  const kind = type === "payment" || type === "payment_refund" ? type : "chargeback";
  const line = { at: createdAt, kind, paymentId, reference, amountMicros, feeMicros: 0 } as const;
  if (payment === undefined) return line;
  if (kind === "payment") {
    const { providerPaymentId: providerId, totalMicros, invoiceNumber: document } = payment;
    return { ...line, providerId, totalMicros, document };
  }
  // A refund that failed and a dispute that was won have another entry, with a reference of their own.
  const isReturn = amountMicros > 0;
  const isNamed = ({ id }: { readonly id: string }): boolean =>
    reference === (isReturn ? undefined : id) || reference === `${id}-failed` || reference === `${id}-won`;
  const refund = payment.refunds.find(isNamed);
  const part = refund ?? payment.disputes.find(isNamed);
  if (part === undefined) return line;
  return {
    ...line,
    providerId: refund?.providerRefundId ?? part.id,
    totalMicros: isReturn ? part.totalMicros : -part.totalMicros,
    document: isReturn ? refund?.reversal : refund?.creditNote,
  };
}
