import type { DisputeRecord, PaymentRecord } from "../../shared/money/payments/record.ts";
import { moneyText } from "../../shared/money/wallet/money.ts";
import { findReference, type ReferenceRecord } from "../../shared/money/wallet/reference.ts";
import { right, type Columns } from "./output.ts";

/*
 * How commands show payments.
 */

/** Returns the total that the customer has to pay, with its parts. */
export function invoiceText({
  amountMicros,
  taxMicros,
  totalMicros,
  taxRate,
}: Pick<PaymentRecord, "amountMicros" | "taxMicros" | "taxRate" | "totalMicros">): string {
  return (
    `The customer pays ${moneyText(totalMicros)}: ${moneyText(amountMicros)} for the wallet and ${moneyText(taxMicros)} ` +
    `tax (${taxRate} %)`
  );
}

export const paymentColumns: Columns<PaymentRecord> = {
  PAYMENT: "id",
  ORGANIZATION: "organizationId",
  TIME: "createdAt",
  METHOD: "method",
  STATUS: "status",
  AMOUNT: ({ amountMicros }) => right(moneyText(amountMicros)),
  TOTAL: ({ totalMicros }) => right(moneyText(totalMicros)),
  DISPUTE: ({ disputes }) => disputes.map(disputeText).join("; "),
  "LEFT TO DO": ({ visitAt }) => (visitAt === undefined ? "" : `next at ${visitAt}`),
};

export const movementColumns: Columns<ReferenceRecord> = {
  REFERENCE: "reference",
  TIME: "createdAt",
  TYPE: "type",
  AMOUNT: ({ amountMicros }) => right(moneyText(amountMicros)),
  BALANCE: ({ balanceMicros }) => right(moneyText(balanceMicros)),
};

/** Reads the movements of the wallet that a payment, its refunds and its disputes caused. */
export async function movementsOf({
  providerPaymentId,
  refunds,
  disputes,
}: PaymentRecord): Promise<ReferenceRecord[]> {
  const references = [
    ...(providerPaymentId === undefined ? [] : [providerPaymentId]),
    ...refunds.flatMap(({ id }) => [id, `${id}-failed`]),
    ...disputes.flatMap(({ id }) => [id, `${id}-won`]),
  ];
  const found = await Promise.all(references.map(findReference));
  return found.flatMap((each) => each ?? []);
}

/** The state of a dispute. An open one has the end of the time in which the bank takes evidence. */
function disputeText({ status, reason, dueAt }: DisputeRecord): string {
  const due = status === "open" && dueAt !== undefined ? `, evidence due ${dueAt}` : "";
  return `${status}${reason === undefined ? "" : ` (${reason})`}${due}`;
}

/** The facts of a payment, by their names. */
export function paymentFacts(payment: PaymentRecord): Record<string, string | undefined> {
  const { refunds, disputes, feeMicros } = payment;
  const refundTexts = refunds.map(
    ({ id, status, totalMicros, creditNote }) =>
      `${id} ${moneyText(totalMicros)} ${status}${creditNote === undefined ? "" : ` ${creditNote}`}`,
  );
  const disputeTexts = disputes.map(
    (each) =>
      `${each.id} ${moneyText(each.totalMicros)} ${disputeText(each)}, fee ${moneyText(each.feeMicros)}`,
  );
  return {
    Payment: payment.id,
    Organization: payment.organizationId,
    Status: payment.status,
    Method: `${payment.method} (${payment.origin})`,
    Total: invoiceText(payment),
    Created: payment.createdAt,
    Succeeded: payment.succeededAt,
    Failure: payment.failure,
    Provider: `${payment.provider} ${payment.providerPaymentId ?? payment.providerSessionId ?? ""}`.trim(),
    Account: payment.providerAccount,
    Fee: feeMicros === undefined ? undefined : moneyText(feeMicros),
    Invoice: payment.invoiceNumber,
    Refunds: refundTexts.length === 0 ? undefined : refundTexts.join("; "),
    Disputes: disputeTexts.length === 0 ? undefined : disputeTexts.join("; "),
    "Next visit": payment.visitAt,
  };
}
