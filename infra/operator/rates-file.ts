import { readFile } from "node:fs/promises";

import { decoded, visible } from "@sms-gateway/stack/operator-file.ts";
import { CsvError, parse } from "csv-parse/sync";
import * as z from "zod/mini";

import { Country } from "../../shared/api/contract/countries.ts";
import { callingCodeOf } from "../../shared/api/contract/written-numbers.ts";
import { callingCodeOfCountry } from "../../shared/api/read-number.ts";
import { CarrierName } from "../../shared/carriers/record.ts";
import { verificationFee, type PriceRow } from "../../shared/money/prices/rate-card.ts";
import { microsOfText } from "../../shared/money/wallet/money.ts";
import type { Output } from "./output.ts";

/** Twice the size of the largest known rate cards. */
export const maxRows = 200_000;

/** Above the price of a segment anywhere: a higher amount is a mistake. */
export const maxAmountMicros = 1_000_000_000;

/** An error in a file. */
export interface Problem {
  /** The line of the file, from 1. */
  readonly line: number;
  readonly column: string;
  readonly problem: string;
}

/** The contents of a price file. */
export interface Rates {
  readonly rows: readonly PriceRow[];
  /** All errors, in the order of the lines. A file with errors is rejected as a whole. */
  readonly errors: readonly Problem[];
}

/** The columns except those of carriers' costs, which are named `cost:NAME`. */
const columns = ["prefix", "country", "price", "valid_from", "verification_fee"] as const;
const costColumn = "cost:";

export interface RatesOptions {
  /** Required columns. */
  readonly required: readonly (typeof columns)[number][];
  /** Whether the file can have carriers' costs. */
  readonly hasCosts: boolean;
}

interface Line {
  readonly line: number;
  readonly cells: readonly string[];
}

/**
 * Reads a price file, and shows its errors.
 * @returns undefined if there are any
 * @throws Error when the file cannot be read
 */
export async function readRates(
  file: string,
  options: RatesOptions,
  output: Output,
): Promise<readonly PriceRow[] | undefined> {
  const content = await readFile(file).catch((error: unknown) => {
    throw new Error(`Cannot read the file ${file}.`, { cause: error });
  });
  const { rows, errors } = parseRates(content, options);
  if (errors.length === 0) return rows;
  showProblems(errors, output);
  return undefined;
}

/** Shows the errors of a file, for which a command changes nothing. */
export function showProblems(errors: readonly Problem[], output: Output): void {
  output.table(errors, { ERROR: problemText });
  output.aside(`Nothing was changed: the file has ${errors.length} errors.`);
  process.exitCode = 1;
}

function problemText({ line, column, problem }: Problem): string {
  return `line ${line}${column === "" ? "" : `, ${column}`}: ${problem}`;
}

/** Parses a price file. */
export function parseRates(content: Uint8Array, options: RatesOptions): Rates {
  const lines = linesOf(content);
  if ("problem" in lines) return { rows: [], errors: [lines] };
  const [heading, ...others] = lines;
  if (heading === undefined) return { rows: [], errors: [mistake(1, "", "the file is empty")] };
  const errors = problemsOfHeading(heading, options);
  if (errors.length > 0) return { rows: [], errors };
  if (others.length > maxRows) {
    const problem = `the file has ${others.length} rows, but the maximum is ${maxRows}`;
    return { rows: [], errors: [mistake(heading.line, "", problem)] };
  }
  return readRows(heading.cells, others);
}

function mistake(line: number, column: string, problem: string): Problem {
  return { line, column, problem };
}

/** The lines of a CSV file with their cells, or the error that makes it unreadable. */
function linesOf(content: Uint8Array): readonly Line[] | Problem {
  // The first bytes of a ZIP file, such as an .xlsx or .ods, and of an .xls.
  if (/^(504b0304|d0cf11e0)/.test(Buffer.from(content.subarray(0, 4)).toString("hex"))) {
    return mistake(1, "", "the file is a workbook, such as one of Excel: save its sheet as CSV UTF-8");
  }
  const text = decoded(content);
  if (typeof text !== "string") return mistake(text.line, "", `${text.problem}: save it as CSV UTF-8`);
  const [first = ""] = text.split(/[\r\n]/, 1);
  if (/^sep=.$/.test(first)) return mistake(1, "", `remove the line ${first}, which is for Excel only`);
  for (const [delimiter, name] of [
    [";", "semicolons"],
    ["\t", "tabs"],
  ] as const) {
    if (first.includes(delimiter) && !first.includes(",")) {
      return mistake(1, "", `the columns are separated by ${name}: save it with commas`);
    }
  }
  try {
    // The reader checks the number of cells, with the heading.
    const record_delimiter = ["\r\n", "\n", "\r"];
    const parsed = parse(text, { info: true, record_delimiter, relax_column_count: true });
    const records = z.array(Parsed).parse(parsed);
    return records
      .map(({ record, info }) => ({ line: info.lines, cells: record.map((cell) => cell.trim()) }))
      .filter(({ cells }) => cells.some((cell) => cell !== ""));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = z.object({ lines: z.number() }).parse(error).lines;
    return mistake(line, "", "invalid quotes: quote the whole cell, and double each quote inside it");
  }
}

const Parsed = z.object({ record: z.array(z.string()), info: z.object({ lines: z.number() }) });

function problemsOfHeading({ line, cells }: Line, { required, hasCosts }: RatesOptions): Problem[] {
  const known: readonly string[] = columns;
  return [
    ...cells
      .filter((cell) => !known.includes(cell) && !(hasCosts && cell.startsWith(costColumn)))
      .map((cell) =>
        mistake(
          line,
          cell,
          `${cell === "" ? "a column has no name" : "unknown column"}; the columns are ${[...columns, ...(hasCosts ? [`${costColumn}CARRIER`] : [])].join(", ")}`,
        ),
      ),
    ...cells
      .filter((cell) => hasCosts && cell.startsWith(costColumn))
      .filter((cell) => !CarrierName.safeParse(cell.slice(costColumn.length)).success)
      .map((cell) => mistake(line, cell, `${costColumn} must be followed by the name of a carrier`)),
    ...cells
      .filter((cell, index) => cells.indexOf(cell) !== index)
      .map((cell) => mistake(line, cell, "the column occurs twice")),
    ...required
      .filter((column) => !cells.includes(column))
      .map((column) => mistake(line, column, "the column is missing")),
  ];
}

const CountryOfPrice = z.union([Country, z.literal("XK")]);

/** More country codes of countries: Ascension's, and those that carriers still have from before a country got its own. */
const moreCodes: Readonly<Record<string, readonly string[]>> = {
  CY: ["90"],
  GE: ["7"],
  PS: ["972"],
  SH: ["247"],
  XK: ["377", "381", "386"],
};

const Moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })]);

/** Reads the rows after the heading, and collects their errors. */
function readRows(heading: readonly string[], lines: readonly Line[]): Rates {
  const errors: Problem[] = [];
  /** The line numbers of the rows read so far, by prefix and time. */
  const lineOf = new Map<string, number>();
  const costColumns = heading.filter((column) => column.startsWith(costColumn));
  const rowOf = ({ line, cells }: Line): PriceRow | undefined => {
    const before = errors.length;
    const wrong = (column: string, problem: string): void => void errors.push(mistake(line, column, problem));
    if (cells.length !== heading.length) {
      wrong("", `has ${cells.length} cells, but the heading has ${heading.length}`);
      return undefined;
    }
    const cell = (column: string): string => cells[heading.indexOf(column)] ?? "";
    const [prefix, country] = [cell("prefix"), cell("country")];
    const code = callingCodeOf(prefix);
    const codeOfCountry =
      moreCodes[country]?.includes(code ?? "") === true ? code : callingCodeOfCountry(country);
    if (!/^[1-9]\d{0,14}$/.test(prefix)) {
      wrong("prefix", `${shown(prefix)} must be 1 to 15 digits, country code first, without a plus sign`);
    } else if (code === undefined && prefix.length > 2) {
      wrong("prefix", `${shown(prefix)} is no country code, and begins with none`);
    } else if (code !== undefined && codeOfCountry !== undefined && codeOfCountry !== code) {
      wrong("country", `${country} has the country code ${codeOfCountry}, not ${code}`);
    }
    if (country !== "" && !CountryOfPrice.safeParse(country).success) {
      wrong(
        "country",
        `${shown(country)} must be an ISO 3166-1 code in capital letters, such as GB, or empty`,
      );
    }
    const validFrom = momentOf(cell("valid_from"));
    if (validFrom === null) {
      wrong(
        "valid_from",
        `${shown(cell("valid_from"))} must be a date such as 2026-04-01, or a date-time with a time zone, or empty`,
      );
    } else if (validFrom?.startsWith("20") === false) {
      wrong("valid_from", `${shown(cell("valid_from"))} is not in this century`);
    }
    const amount = (column: string): number | undefined => {
      const read = microsOrProblem(cell(column));
      if (typeof read === "number") return read;
      wrong(column, read);
      return undefined;
    };
    const priceMicros = amount("price");
    const costMicros: Record<string, number> = {};
    for (const column of costColumns) {
      const cost = cell(column) === "" ? undefined : amount(column);
      if (cost !== undefined) costMicros[column.slice(costColumn.length)] = cost;
    }
    const fee = cell("verification_fee") === "" ? undefined : amount("verification_fee");
    if (fee !== undefined) costMicros[verificationFee] = fee;
    const id = `${prefix} ${validFrom ?? ""}`;
    const twin = lineOf.get(id);
    if (twin !== undefined) wrong("prefix", `${shown(prefix)} is already in line ${twin}, for the same time`);
    else lineOf.set(id, line);
    if (errors.length > before || priceMicros === undefined || validFrom === null) return undefined;
    return {
      prefix,
      ...(country === "" ? {} : { country }),
      priceMicros,
      ...(validFrom === undefined ? {} : { validFrom }),
      costMicros,
    };
  };
  const rows = lines.flatMap((line) => rowOf(line) ?? []);
  if (lines.length === 0) errors.push(mistake(1, "", "there is no row after the heading"));
  return { rows, errors };
}

/** A cell for an error message, shortened. */
export function shown(cell: string): string {
  return cell === "" ? "it" : `"${visible(cell.length > 40 ? `${cell.slice(0, 40)}…` : cell)}"`;
}

/** A time in ISO 8601 and UTC; undefined for an empty cell, null for an invalid one. */
function momentOf(cell: string): string | null | undefined {
  if (cell === "") return undefined;
  return Moment.safeParse(cell).success ? new Date(cell).toISOString() : null;
}

/** An amount in micro-units, or an error. */
function microsOrProblem(cell: string): number | string {
  const micros = microsOfText(cell);
  if (micros !== undefined) return micros <= maxAmountMicros ? micros : `${shown(cell)} is more than 1000`;
  if (cell === "") return "is missing";
  if (/^-[\d.]/.test(cell)) return `${shown(cell)} must not be negative`;
  if (/^\d+\.\d{7,}$/.test(cell)) return `${shown(cell)} has more than 6 decimals`;
  return `${shown(cell)} must be an amount such as 0.0075, with a point and without a sign`;
}
