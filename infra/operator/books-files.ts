import { appendFile, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";

import { TransactionType } from "../../shared/api/contract/wallet.ts";
import {
  readBooks,
  type BooksRecord,
  type BooksTotal,
  type CountryBooks,
  type PaymentLine,
} from "../../shared/figures/books/record.ts";
import { decimalText } from "../../shared/money/wallet/money.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { errorText } from "./error-text.ts";
import { textsOf, type Columns } from "./output.ts";

const types = [...TransactionType.options, "unexplained"];

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
});

const paymentColumns = (currency: string): Columns<OfOrganization & PaymentLine> => ({
  time: "at",
  organization: "organizationId",
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
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    throw new RejectedError(`Cannot create the folder ${folder}: ${errorText(error)}`, { cause: error });
  });
  const columns = sumColumns(total.currency);
  const addTotal = await newFile<BooksTotal>(folder, "total.csv", {
    month: "month",
    organizations: "organizations",
    ...columns,
    liability: ({ liabilityMicros }) => decimalText(liabilityMicros),
    owed_by_customers: ({ owedMicros }) => decimalText(owedMicros),
    open_days: "openDays",
    closed_at: "closedAt",
    closed_by: "closedBy",
  });
  const addCustomers = await newFile<BooksRecord>(folder, "customers.csv", {
    organization: "organizationId",
    ...columns,
    unexplained_reason: "unexplainedReason",
    open_days: ({ openDays }) => openDays.map(({ pk }) => pk.slice("MARGINS#".length)).join(" "),
  });
  const addCountries = await newFile(folder, "countries.csv", countryColumns(total.currency));
  const addPayments = await newFile(folder, "payments.csv", paymentColumns(total.currency));
  await addTotal([total]);
  for await (const books of readBooks(total.month)) {
    const { organizationId } = books;
    if (books.entity === "bookLines") {
      await addPayments(books.lines.map((line) => ({ ...line, organizationId })));
    } else {
      await addCustomers([books]);
      await addCountries(books.countries.map((each) => ({ ...each, organizationId })));
    }
  }
  return ["total.csv", "customers.csv", "countries.csv", "payments.csv"];
}

/** Creates a CSV file with its headings. @returns a function that adds rows */
async function newFile<Row>(
  folder: string,
  name: string,
  columns: Columns<Row>,
): Promise<(rows: readonly Row[]) => Promise<void>> {
  const file = path.join(folder, name);
  await writeFile(file, `${Object.keys(columns).join(",")}\n`, { flag: "wx", mode: 0o600 });
  return async (rows) => {
    const lines = rows.map((row) => `${textsOf(row, columns).map(cellOf).join(",")}\n`);
    if (lines.length > 0) await appendFile(file, lines.join(""));
  };
}

/** A spreadsheet would execute text that begins like a formula. References may come from a bank. */
function cellOf(text: string): string {
  const safe = /^[=+@\t\r]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
