import { readFile } from "node:fs/promises";

import { tablesOf } from "@sms-gateway/console/read-table.ts";

import { countryNamed, currencies } from "./carrier-values.ts";
import { shown, type Problem } from "./rates-file.ts";

/*
 * The files of carriers: price lists and invoices. Each carrier has its own columns. The headings decide what a column is.
 */

/** The columns that both kinds of file can have, by their headings in small letters. */
export const destinationColumns = {
  mcc: /^mcc$/,
  mnc: /^mnc$/,
  mccmnc: /^(mcc ?mnc|plmn|mwx)$/,
  country: /^(country|iso|country (iso|code|name)|iso code|destination country)$/,
  currency: /^(currency|cur)$/,
} as const;

/** The columns that a file has to have. */
interface Needed {
  /** Whether columns are enough, so that their row is that of the headings. */
  readonly isWhole: (found: ReadonlySet<string>) => boolean;
  /** The same in words. */
  readonly needed: string;
}

/** A row of a file with its cells by the names of their columns. */
interface CarrierLine<Name extends string> {
  readonly line: number;
  readonly cells: Readonly<Partial<Record<Name, string>>>;
}

export interface CarrierFile<Name extends string> {
  readonly lines: readonly CarrierLine<Name>[];
  /** The headings as the file has them. */
  readonly headings: Readonly<Partial<Record<Name, string>>>;
}

/** The columns of which a file may have several. */
const mayRepeat: ReadonlySet<string> = new Set(["country", "day", "reference"]);

/** A cell of a row with the sum of others. */
const total = /^(sub|grand )?-?totals?( amount)?:?$|^(gesamt|summe|sum):?$/i;

/** How many rows above the headings can be titles. */
const maxTitleRows = 15;

/**
 * Reads a file of a carrier: CSV with any usual delimiter and encoding, or a workbook of Excel.
 * @param columns the headings of each column, in small letters, with spaces in place of other characters and without currencies
 * @returns the file, or why it cannot be read
 * @throws Error when there is no such file
 */
export async function readCarrierFile<Name extends string>(
  file: string,
  columns: Readonly<Record<Name, RegExp>>,
  { isWhole, needed }: Needed,
): Promise<CarrierFile<Name> | Problem> {
  const content = await readFile(file).catch((error: unknown) => {
    throw new Error(`Cannot read the file ${file}.`, { cause: error });
  });
  const rows = await tablesOf(new Blob([content])).then(
    ({ iso }) => iso,
    () => undefined,
  );
  if (rows === undefined) return problem(1, "", "the file is neither CSV nor a workbook of Excel");
  const names = Object.entries<RegExp>(columns);
  const columnsOf = (cells: readonly string[]): (readonly [string, number])[] =>
    cells.flatMap((cell, index) =>
      names.filter(([, pattern]) => pattern.test(simplified(cell))).map(([name]) => [name, index] as const),
    );
  const top = rows.findIndex(
    (cells, index) => index <= maxTitleRows && isWhole(new Set(columnsOf(cells).map(([name]) => name))),
  );
  const heading = rows[top];
  if (heading === undefined) {
    const first = rows.find(({ length }) => length > 0)?.join(", ") ?? "";
    return problem(
      1,
      "",
      `no row has headings such as ${needed}; the first one is ${first === "" ? "empty" : shown(first)}`,
    );
  }
  const found = columnsOf(heading);
  const isRepeated = (name: string, index: number): boolean =>
    found.findIndex(([other]) => other === name) < index;
  const twice = found.find(([name], index) => !mayRepeat.has(name) && isRepeated(name, index));
  if (twice !== undefined) {
    const cells = found.filter(([name]) => name === twice[0]).map(([, index]) => shown(heading[index] ?? ""));
    return problem(top + 1, twice[0], `${cells.join(" and ")} are the same column: keep the right one`);
  }
  const pick = (cells: readonly string[]): Partial<Record<Name, string>> => {
    const picked: Partial<Record<string, string>> = {};
    for (const [name, index] of found) {
      const cell = (cells[index] ?? "").trim();
      // The first one with a value counts, and of countries the first one that can be read.
      const isBetter = name === "country" && countryNamed(picked[name] ?? "") === undefined;
      if ((picked[name] ?? "") === "" || (isBetter && countryNamed(cell) !== undefined)) picked[name] = cell;
    }
    return picked;
  };
  const long = rows.findIndex(
    (cells, index) => index > top && cells.slice(heading.length).some((cell) => cell.trim() !== ""),
  );
  if (long >= 0)
    return problem(
      long + 1,
      "",
      `has more cells than the ${heading.length} headings: quote amounts with a decimal comma`,
    );
  const lines = rows
    .map((cells, index) => ({
      line: index + 1,
      cells: pick(cells),
      isTotal: cells.some((cell) => total.test(cell.trim())),
    }))
    .filter(({ line, cells, isTotal }) => line > top + 1 && !isTotal && Object.values(cells).some(Boolean));
  return { lines, headings: pick(heading) };
}

/** A heading without its currency and punctuation. */
function simplified(heading: string): string {
  return heading
    .replaceAll(currencies, " ")
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .replaceAll(/[^a-z\d]+/g, " ")
    .trim();
}

export function problem(line: number, column: string, text: string): Problem {
  return { line, column, problem: text };
}
