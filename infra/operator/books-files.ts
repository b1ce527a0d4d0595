import { TransactionType } from "../../shared/api/contract/wallet.ts";
import {
  hasContent,
  readBooks,
  type BooksRecord,
  type BooksTotal,
  type CountryBooks,
  type PaymentLine,
} from "../../shared/figures/books/record.ts";
import { documentsOf, type DocumentRecord } from "../../shared/money/invoices/record.ts";
import { decimalText } from "../../shared/money/wallet/money.ts";
import { newCsvFile, newFolder } from "./csv-files.ts";
import type { Columns } from "./output.ts";

const types = [...TransactionType.options, "unexplained"];

/** The columns of messages with an unknown outcome. */
const unknownColumns: Columns<Pick<CountryBooks, "unknownCostMicros" | "unknownMessages">> = {
  unknown_messages: "unknownMessages",
  unknown_cost: ({ unknownCostMicros }) => decimalText(unknownCostMicros),
};

/** The columns that customers and the totals have. */
function sumColumns(currency: string): Columns<BooksRecord | BooksTotal> {
  const ofTypes = types.map((type) => [
    type,
    ({ movements }: BooksRecord | BooksTotal) => decimalText(movements[type] ?? 0),
  ]);
  return {
    currency: () => currency,
    opening: ({ openingMicros }) => decimalText(openingMicros),
    ...Object.fromEntries(ofTypes),
    closing: ({ closingMicros }) => decimalText(closingMicros),
    messages: "messages",
    segments: "segments",
    revenue: ({ revenueMicros }) => decimalText(revenueMicros),
    fees: ({ feeMicros }) => decimalText(feeMicros),
    cost: ({ costMicros }) => decimalText(costMicros),
    margin: ({ revenueMicros, costMicros }) => decimalText(revenueMicros - costMicros),
    messages_without_cost: "messagesWithoutCost",
    ...unknownColumns,
  };
}

interface OfOrganization {
  readonly organizationId: string;
}

const countryColumns = (currency: string): Columns<CountryBooks & OfOrganization> => ({
  organization: "organizationId",
  country: "country",
  currency: () => currency,
  messages: "messages",
  segments: "segments",
  revenue: ({ revenueMicros }) => decimalText(revenueMicros),
  cost: ({ costMicros }) => decimalText(costMicros),
  margin: ({ revenueMicros, costMicros }) => decimalText(revenueMicros - costMicros),
  messages_without_cost: "messagesWithoutCost",
  ...unknownColumns,
});

/** The columns of a buyer and its tax, from a document, which never changes. */
export const buyerColumns: Columns<{ readonly of?: DocumentRecord | undefined }> = {
  name: ({ of }) => of?.buyer.name,
  country: ({ of }) => of?.buyer.country ?? of?.seller.country,
  vat_number: ({ of }) => of?.buyer.vatNumber,
  tax_number: ({ of }) => of?.buyer.taxNumber,
  tax_rate: ({ of }) => (of === undefined ? undefined : String(of.taxRate)),
  // Other documents without tax have no note.
  reverse_charge: ({ of }) => (of === undefined ? undefined : of.taxNote === undefined ? "no" : "yes"),
};

/** A line of a payment, and the document that it has, or the invoice of its payment. */
interface LineOfPayment extends OfOrganization, PaymentLine {
  readonly of?: DocumentRecord | undefined;
}

const paymentColumns = (currency: string): Columns<LineOfPayment> => ({
  time: "at",
  organization: "organizationId",
  ...buyerColumns,
  kind: "kind",
  payment: "paymentId",
  reference: "reference",
  provider_id: "providerId",
  currency: () => currency,
  amount: ({ amountMicros }) => decimalText(amountMicros),
  tax: ({ totalMicros, amountMicros }) =>
    totalMicros === undefined ? undefined : decimalText(totalMicros - amountMicros),
  total: ({ totalMicros }) => (totalMicros === undefined ? undefined : decimalText(totalMicros)),
  fee: ({ feeMicros }) => decimalText(feeMicros),
  document: "document",
});

/**
 * Writes the books of a closed month as CSV files into a new folder that only the current user can read.
 * @returns the names of the files
 */
export async function writeBooks(total: BooksTotal, folder: string): Promise<string[]> {
  await newFolder(folder);
  const columns = sumColumns(total.currency);
  const addTotal = await newCsvFile<BooksTotal>(folder, "total.csv", {
    month: "month",
    organizations: "organizations",
    ...columns,
    liability: ({ liabilityMicros }) => decimalText(liabilityMicros),
    owed_by_customers: ({ owedMicros }) => decimalText(owedMicros),
    open_days: "openDays",
    closed_at: "closedAt",
    closed_by: "closedBy",
  });
  const addCustomers = await newCsvFile<BooksRecord>(folder, "customers.csv", {
    organization: "organizationId",
    name: "name",
    ...columns,
    unexplained_reason: "unexplainedReason",
    open_days: ({ openDays }) => openDays.map(({ pk }) => pk.slice("MARGINS#".length)).join(" "),
  });
  const addCountries = await newCsvFile(folder, "countries.csv", countryColumns(total.currency));
  const addPayments = await newCsvFile(folder, "payments.csv", paymentColumns(total.currency));
  await addTotal([total]);
  for await (const books of readBooks(total.month)) {
    const { organizationId } = books;
    if (books.entity === "bookLines") {
      await addPayments(await linesWithDocuments(organizationId, books.lines));
    } else if (hasContent(books)) {
      await addCustomers([books]);
      await addCountries(books.countries.map((each) => ({ ...each, organizationId })));
    }
  }
  return ["total.csv", "customers.csv", "countries.csv", "payments.csv"];
}

async function linesWithDocuments(
  organizationId: string,
  lines: readonly PaymentLine[],
): Promise<LineOfPayment[]> {
  const documents = new Map<string, DocumentRecord>();
  for await (const each of documentsOf(organizationId)) {
    documents.set(each.number, each);
    // A dispute, a fee and a document that followed later have the buyer of the payment's first invoice.
    if (each.kind === "invoice" && each.refundId === undefined) documents.set(each.paymentId, each);
  }
  return lines.map((line) => {
    const of = documents.get(line.document ?? "") ?? documents.get(line.paymentId ?? "");
    return { ...line, organizationId, of };
  });
}
