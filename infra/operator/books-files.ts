import { mkdir, open } from "node:fs/promises";
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

/** The columns of a file, with the text of each for a row. */
type Columns<Row> = Readonly<Record<string, (row: Row) => number | string | undefined>>;

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
    messages: ({ messages }) => messages,
    segments: ({ segments }) => segments,
    revenue: ({ revenueMicros }) => decimalText(revenueMicros),
    fees: ({ feeMicros }) => decimalText(feeMicros),
    cost: ({ costMicros }) => decimalText(costMicros),
    margin: ({ revenueMicros, costMicros }) => decimalText(revenueMicros - costMicros),
    messages_without_cost: ({ messagesWithoutCost }) => messagesWithoutCost,
  };
}

interface OfOrganization {
  readonly organizationId: string;
}

const countryColumns = (currency: string): Columns<CountryBooks & OfOrganization> => ({
  organization: ({ organizationId }) => organizationId,
  country: ({ country }) => country,
  currency: () => currency,
  messages: ({ messages }) => messages,
  segments: ({ segments }) => segments,
  revenue: ({ revenueMicros }) => decimalText(revenueMicros),
  cost: ({ costMicros }) => decimalText(costMicros),
  margin: ({ revenueMicros, costMicros }) => decimalText(revenueMicros - costMicros),
  messages_without_cost: ({ messagesWithoutCost }) => messagesWithoutCost,
});

const paymentColumns = (currency: string): Columns<OfOrganization & PaymentLine> => ({
  time: ({ at }) => at,
  organization: ({ organizationId }) => organizationId,
  kind: ({ kind }) => kind,
  payment: ({ paymentId }) => paymentId,
  reference: ({ reference }) => reference,
  provider_id: ({ providerId }) => providerId,
  currency: () => currency,
  amount: ({ amountMicros }) => decimalText(amountMicros),
  tax: ({ totalMicros, amountMicros }) =>
    totalMicros === undefined ? undefined : decimalText(totalMicros - amountMicros),
  total: ({ totalMicros }) => (totalMicros === undefined ? undefined : decimalText(totalMicros)),
  fee: ({ feeMicros }) => decimalText(feeMicros),
  document: ({ document }) => document,
});

/**
 * Writes the books of a closed month as CSV files into a new folder that only the current user can read.
 * @returns the names of the files
 */
export async function writeBooks(total: BooksTotal, folder: string): Promise<string[]> {
  await mkdir(folder, { mode: 0o700 }).catch((error: unknown) => {
    throw new RejectedError(`Cannot create the folder ${folder}: ${errorText(error)}`, { cause: error });
  });
  const { currency, month } = total;
  const columns = sumColumns(currency);
  const totals = await CsvFile.create(folder, "total.csv", {
    month: () => month,
    organizations: () => total.organizations,
    ...columns,
    liability: () => decimalText(total.liabilityMicros),
    owed_by_customers: () => decimalText(total.owedMicros),
    open_days: () => total.openDays,
    closed_at: () => total.closedAt,
    closed_by: () => total.closedBy,
  });
  const customers = await CsvFile.create<BooksRecord>(folder, "customers.csv", {
    organization: ({ organizationId }) => organizationId,
    ...columns,
    unexplained_reason: ({ unexplainedReason }) => unexplainedReason,
    open_days: ({ openDays }) => openDays.map(({ pk }) => pk.slice("MARGINS#".length)).join(" "),
  });
  const countries = await CsvFile.create(folder, "countries.csv", countryColumns(currency));
  const payments = await CsvFile.create(folder, "payments.csv", paymentColumns(currency));
  const files = [totals, customers, countries, payments];
  try {
    await totals.add([total]);
    for await (const books of readBooks(month)) {
      const { organizationId } = books;
      if (books.entity === "bookLines") {
        await payments.add(books.lines.map((line) => ({ ...line, organizationId })));
      } else {
        await customers.add([books]);
        await countries.add(books.countries.map((each) => ({ ...each, organizationId })));
      }
    }
  } finally {
    await Promise.all(files.map(async (file) => file.close()));
  }
  return files.map(({ name }) => name);
}

class CsvFile<Row> {
  readonly name: string;
  readonly #columns: Columns<Row>;
  readonly #file: Awaited<ReturnType<typeof open>>;

  private constructor(name: string, columns: Columns<Row>, file: Awaited<ReturnType<typeof open>>) {
    this.name = name;
    this.#columns = columns;
    this.#file = file;
  }

  static async create<Row>(folder: string, name: string, columns: Columns<Row>): Promise<CsvFile<Row>> {
    const file = new CsvFile(name, columns, await open(path.join(folder, name), "wx", 0o600));
    await file.#file.write(`${Object.keys(columns).join(",")}\n`);
    return file;
  }

  async add(rows: readonly Row[]): Promise<void> {
    const cells = Object.values(this.#columns);
    const lines = rows.map((row) => `${cells.map((cell) => cellOf(cell(row))).join(",")}\n`);
    if (lines.length > 0) await this.#file.write(lines.join(""));
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/** A spreadsheet would execute text that begins like a formula. References may come from a bank. */
function cellOf(value: number | string | undefined): string {
  const text = String(value ?? "");
  const safe = /^[=+@\t\r]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
