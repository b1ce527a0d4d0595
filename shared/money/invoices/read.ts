import type { Invoice } from "../../api/contract/billing.ts";
import { orNotFound } from "../../api/contract/errors.ts";
import type { Page, PageQuery } from "../../api/contract/primitives.ts";
import type { RawResponse } from "../../platform/http/pipeline.ts";
import { pageOf } from "../../platform/table/page.ts";
import { amountOf } from "../wallet/money.ts";
import { en16931Of } from "./en16931.ts";
import { renderPdf } from "./pdf.ts";
import { dayIn, documentsOf, findDocument, type DocumentRecord } from "./record.ts";
import { readPdf } from "./storage.ts";

/** Returns a page of the invoices and credit notes of an organization, newest first. */
export async function listInvoices(organizationId: string, query: PageQuery): Promise<Page<Invoice>> {
  const documents: DocumentRecord[] = [];
  for await (const document of documentsOf(organizationId)) documents.push(document);
  const newestFirst = documents.toSorted((one, other) => other.issuedAt.localeCompare(one.issuedAt));
  return pageOf(newestFirst.map(toApiInvoice), query);
}

/**
 * Returns an invoice or credit note: as a PDF or a file of EN 16931 if the caller prefers that.
 * @throws ApiError NOT_FOUND; CONFLICT when the document lacks what EN 16931 requires
 */
export async function getInvoice(
  organizationId: string,
  number: string,
  accept = "",
): Promise<Invoice | RawResponse> {
  const document = orNotFound(await findDocument(organizationId, number));
  const [, type] = /^\s*application\/(pdf|xml)\b/.exec(accept.toLowerCase()) ?? [];
  if (type === undefined) return toApiInvoice(document);
  // It is the same whenever it is rendered, so a PDF that is not stored yet is rendered now.
  const body =
    type === "xml" ? en16931Of(document) : ((await readPdf(document)) ?? (await renderPdf(document)));
  const disposition = `attachment; filename="${number}.${type}"`;
  return { headers: { "Content-Type": `application/${type}`, "Content-Disposition": disposition }, body };
}

function toApiInvoice(document: DocumentRecord): Invoice {
  const { number, kind, corrects, paymentId, issuedAt, seller, buyer, lines, taxRate, taxNote, currency } =
    document;
  const { timeZone, localTax } = document;
  return {
    id: number,
    kind,
    corrects,
    paymentId,
    issuedAt,
    issuedOn: dayIn(timeZone, issuedAt),
    seller,
    buyer,
    lines: lines.map(({ description, amountMicros }) => ({ description, amount: amountOf(amountMicros) })),
    amount: amountOf(document.amountMicros),
    taxRate,
    tax: amountOf(document.taxMicros),
    taxNote,
    total: amountOf(document.totalMicros),
    currency,
    localTax: localTax && {
      amount: amountOf(localTax.micros),
      currency: localTax.currency,
      exchangeRate: localTax.exchangeRate,
    },
  };
}
