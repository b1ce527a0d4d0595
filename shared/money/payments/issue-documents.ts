import type { PaymentSettings } from "../../api/contract/payment-settings.ts";
import { brand } from "../../notices/brand/brand.ts";
import { now } from "../../platform/clock.ts";
import { keys } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import type { Step } from "../../platform/table/transact.ts";
import { insertOf, updateOf, type Write } from "../../platform/table/write.ts";
import {
  advanceNumbers,
  dayIn,
  findDocument,
  numberOf,
  NumberRecord,
  type Buyer,
  type DocumentRecord,
} from "../invoices/record.ts";
import { findStored, isNumberStored, storeDocument } from "../invoices/storage.ts";
import { buyerOf, readBilling } from "./billing-record.ts";
import { localTaxOf } from "./local-tax.ts";
import { paymentUpdate, readPayment, type PaymentKey, type PaymentRecord } from "./record.ts";
import { paymentSettings } from "./settings.ts";
import { applyStep, changePayment, writeStep } from "./steps.ts";

/*
 * Invoices and credit notes. One transaction writes a document, its number and its note on the payment. So the numbers of a
 * year have no gaps, and each payment and refund has one document. The objects in the bucket follow.
 */

/** A document that a payment still needs, and its note on the payment. */
interface DueDocument extends Pick<
  DocumentRecord,
  "amountMicros" | "corrects" | "kind" | "refundId" | "totalMicros"
> {
  readonly noted: (number: string) => Partial<PaymentRecord>;
}

/**
 * Issues the documents of a payment and stores their PDFs. Repeated calls issue nothing twice.
 * @returns the payment after it
 * @throws Error when a PDF cannot be stored now: repeat it
 */
export async function issueDocuments(key: PaymentKey): Promise<PaymentRecord> {
  const { seller } = paymentSettings();
  // A stage without a seller issues no invoices.
  if (seller === undefined) return readPayment(key);
  let payment: PaymentRecord | "applied";
  do
    payment = await applyStep(key, async (present) => {
      const due = dueDocument(present);
      return due === undefined ? present : issue(present, due, seller);
    });
  while (payment === "applied");
  for (const number of payment.unstored) {
    const document = await findDocument(payment.organizationId, number);
    if (document !== undefined) await storeDocument(document);
    await applyStep(key, async (present) =>
      changePayment(present, { unstored: present.unstored.filter((each) => each !== number) }),
    );
  }
  return payment.unstored.length === 0 ? payment : readPayment(key);
}

/** Returns the next document that a payment needs: the invoice first, then a credit note for each refund. */
function dueDocument(payment: PaymentRecord): DueDocument | undefined {
  const { status, invoiceNumber, refunds, amountMicros, totalMicros } = payment;
  if (status !== "succeeded") return undefined;
  if (invoiceNumber === undefined) {
    return { kind: "invoice", amountMicros, totalMicros, noted: (number) => ({ invoiceNumber: number }) };
  }
  for (const refund of refunds) {
    const { id: refundId, status: refundStatus, creditNote, reversal } = refund;
    const noted =
      (field: "creditNote" | "reversal") =>
      (number: string): Partial<PaymentRecord> => ({
        refunds: refunds.map((each) => (each.id === refundId ? { ...each, [field]: number } : each)),
      });
    const amounts = { amountMicros: refund.amountMicros, totalMicros: refund.totalMicros, refundId };
    if (refundStatus === "succeeded" && creditNote === undefined) {
      return { ...amounts, kind: "credit_note", corrects: invoiceNumber, noted: noted("creditNote") };
    }
    // The refund failed after it had seemed to succeed.
    if (refundStatus === "failed" && creditNote !== undefined && reversal === undefined) {
      return { ...amounts, kind: "invoice", corrects: creditNote, noted: noted("reversal") };
    }
  }
  return undefined;
}

/** @returns `disturbed` when another document took the number, or the payment changed */
async function issue(
  payment: PaymentRecord,
  { noted, ...due }: DueDocument,
  { timeZone, ...seller }: NonNullable<PaymentSettings["seller"]>,
): Promise<Step> {
  const { organizationId, id: paymentId, unstored, currency, invoiceNumber } = payment;
  const reference = payment.provider === "manual" ? payment.providerPaymentId : undefined;
  const lost = await findStored({ ...due, organizationId, paymentId, reference });
  // A transfer may have been entered again with another amount.
  if (lost?.amountMicros === due.amountMicros && lost.totalMicros === due.totalMicros) {
    // A restore of the table has lost its record.
    return writeStep({
      document: insertOf(keys.invoice(organizationId, lost.number), { ...lost, paymentId }),
      payment: paymentUpdate(payment, noted(lost.number)),
    });
  }
  const issuedAt = now().toISOString();
  const year = dayIn(timeZone, issuedAt).slice(0, "yyyy".length);
  const counter = await findItem(NumberRecord, keys.invoiceNumber(due.kind, year), { consistent: true });
  let number = numberOf(due.kind, year, counter?.next ?? 1);
  // A restore may have lost many numbers. A search that ends early continues from the counter.
  while (await isNumberStored({ organizationId, number })) number = await advanceNumbers(number);
  const invoice = invoiceNumber === undefined ? undefined : await findDocument(organizationId, invoiceNumber);
  const month = dayIn(timeZone, payment.succeededAt ?? issuedAt).slice(0, "yyyy-mm".length);
  const taxMicros = due.totalMicros - due.amountMicros;
  const document: DocumentRecord = {
    entity: "invoice",
    ...due,
    number,
    organizationId,
    paymentId,
    reference,
    issuedAt,
    timeZone,
    paidAt: payment.succeededAt,
    method: payment.method,
    seller,
    brand: { name: brand().name, color: brand().colors.light },
    buyer: invoice?.buyer ?? (await buyerOfInvoice(payment)),
    lines: [
      {
        description: due.refundId === undefined ? "SMS balance" : "Refund of SMS balance",
        amountMicros: due.amountMicros,
      },
    ],
    taxMicros,
    taxRate: payment.taxRate,
    taxNote: payment.taxNote,
    currency,
    localTax: localTaxOf({ taxMicros, currency }, invoice, month),
  };
  return writeStep({
    number: takeNumber(due.kind, year, number),
    document: insertOf(keys.invoice(organizationId, number), document),
    payment: paymentUpdate(payment, { ...noted(number), unstored: [...unstored, number] }),
  });
}

/** Returns the buyer of a payment's invoice, who is then also on its credit notes. */
async function buyerOfInvoice({ organizationId, buyer }: PaymentRecord): Promise<Buyer> {
  const billing = buyer === null ? { organizationId } : await readBilling(organizationId);
  const { name, address, country, vatNumber, taxNumber } = buyer ?? (await buyerOf(billing));
  return { name, address, country, vatNumber, taxNumber };
}

function takeNumber(kind: string, year: string, number: string): Write {
  const key = keys.invoiceNumber(kind, year);
  const next = Number(number.split("-").at(-1));
  if (next === 1) return insertOf(key, { entity: "invoiceNumber", next: 2 });
  return updateOf(key, { set: { next: next + 1 } }, { is: { next } });
}
