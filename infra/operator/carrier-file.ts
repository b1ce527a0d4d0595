import { readFile } from "node:fs/promises";

import * as z from "zod/mini";

import { tablesOf } from "../../functions/console/app/read-table.ts";
import { Country } from "../../shared/api/contract/countries.ts";
import { countryOfNetwork } from "./networks.ts";
import { shown, type Problem } from "./rates-file.ts";

/*
 * The files of carriers: price lists and invoices. Each carrier has its own columns, marks and dates. The headings decide what a column
 * is. All cells of a file together decide how it writes dates.
 */

/** The columns that both kinds of file can have, by their headings in small letters. */
export const destinationColumns = {
  mcc: /^mcc$/,
  mnc: /^mnc$/,
  mccmnc: /^(mcc ?mnc|plmn|mwx)$/,
  country: /^(country|iso|country (iso|code|name))$/,
  currency: /^(currency|cur)$/,
} as const;

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

/** How many rows above the headings can be titles. */
const maxTitleRows = 15;

/**
 * Reads a file of a carrier: CSV with any usual delimiter and encoding, or a workbook of Excel.
 * @param columns the headings of each column, in small letters, with spaces in place of other characters and without currencies
 * @param isWhole whether columns are enough, so that their row is that of the headings
 * @returns the file, or why it cannot be read
 * @throws Error when there is no such file
 */
export async function readCarrierFile<Name extends string>(
  file: string,
  columns: Readonly<Record<Name, RegExp>>,
  isWhole: (found: ReadonlySet<string>) => boolean,
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
    return problem(1, "", `no row has the headings that are needed; the first one is ${shown(first)}`);
  }
  // The code of a country is before its name.
  const found = columnsOf(heading).filter(
    ([name], index, all) => name !== "country" || all.findIndex(([other]) => other === "country") === index,
  );
  const twice = found.find(([name], index) => found.findIndex(([other]) => other === name) < index);
  if (twice !== undefined) {
    const cells = found.filter(([name]) => name === twice[0]).map(([, index]) => shown(heading[index] ?? ""));
    return problem(top + 1, twice[0], `${cells.join(" and ")} are the same column: keep the right one`);
  }
  const pick = (cells: readonly string[]): Partial<Record<Name, string>> => {
    const picked: Partial<Record<string, string>> = {};
    for (const [name, index] of found) picked[name] = (cells[index] ?? "").trim();
    return picked;
  };
  const lines = rows
    .map((cells, index) => ({ line: index + 1, cells: pick(cells) }))
    .filter(({ line, cells }) => line > top + 1 && Object.values(cells).some(Boolean));
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

const currencies = new RegExp(String.raw`\b(${Intl.supportedValuesOf("currency").join("|")})\b`, "g");

export function problem(line: number, column: string, text: string): Problem {
  return { line, column, problem: text };
}

/** Returns the currencies that a file names, in a heading or a column. */
export function currenciesOf({ lines, headings }: CarrierFile<"currency" | "price">): ReadonlySet<string> {
  const inHeading = headings.price?.match(currencies) ?? [];
  return new Set([...inHeading, ...lines.map(({ cells }) => cells.currency ?? "")].filter(Boolean));
}

/**
 * Reads an amount with a point or a comma before its decimals. An amount for a segment is below 1,000, so that no mark can separate
 * thousands.
 * @param rate the price of one unit of the file's currency in the stage's
 * @returns micro-units, rounded up; undefined for no such amount
 */
export function microsIn(cell: string, rate: number): number | undefined {
  const digits = cell.replaceAll(/[\p{Sc}\s]|\b[A-Z]{3}\b/gu, "").replace(",", ".");
  if (!/^(\d+(\.\d*)?|\.\d+)$/.test(digits)) return undefined;
  // A conversion leaves digits that no one means.
  return Math.ceil(Number((Number(digits) * rate * 1_000_000).toPrecision(12)));
}

/** The ISO 3166-1 code of a destination: what its column states, or that of its network. Undefined if neither is readable. */
export function countryIn({
  country = "",
  mcc = "",
}: {
  readonly country?: string | undefined;
  readonly mcc?: string;
}): string | undefined {
  const code = reservedCodes[country.toUpperCase()] ?? country.toUpperCase();
  if (Country.safeParse(code).success || code === "XK") return code;
  return codesByName.get(plain(country)) ?? countryOfNetwork(mcc);
}

/** Codes for parts of Saint Helena, and one in use for the United Kingdom. */
const reservedCodes: Readonly<Record<string, string>> = { AC: "SH", TA: "SH", UK: "GB" };

const names = new Intl.DisplayNames("en", { type: "region" });
const codesByName = new Map([...Country.options, "XK"].map((code) => [plain(names.of(code) ?? ""), code]));

function plain(name: string): string {
  return name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z]/g, "");
}

/** The MCC and MNC of a destination. One column may have both. The MNC is empty for all networks of the country. */
export function networkIn({
  mcc = "",
  mnc = "",
  mccmnc = "",
}: Readonly<Partial<Record<"mcc" | "mccmnc" | "mnc", string>>>): {
  readonly mcc: string;
  readonly mnc: string;
} {
  if (mccmnc !== "" && mcc === "")
    return networkIn({ mcc: mccmnc.slice(0, 3), mnc: mccmnc.slice(3).replace(/^\D+/, "") });
  const all = !/^\d+$/.test(mnc);
  return { mcc, mnc: all ? "" : mnc.padStart(2, "0") };
}

/** Reads days and times as a file writes them. */
export class Moments {
  readonly #isMonthFirst: boolean | undefined;

  /** @param cells all dates of the file, which together decide whether its months are first */
  constructor(cells: readonly string[]) {
    const parts = cells.map((cell) => /^(\d{1,2})\/(\d{1,2})\/\d{4}/.exec(cell));
    const has = (index: number): boolean => parts.some((each) => Number(each?.[index] ?? 0) > 12);
    this.#isMonthFirst = has(1) === has(2) ? undefined : has(2);
  }

  /** Returns a time in ISO 8601 and UTC, empty for an empty cell, or the problem. */
  read(cell: string): { readonly at: string } | { readonly problem: string } {
    if (cell === "") return { at: "" };
    const [, first = "", mark = "", second = "", year = "", rest = ""] =
      /^(\d{1,2})([./])(\d{1,2})\2(\d{4})(.*)$/.exec(cell) ?? [];
    if (mark === "/" && this.#isMonthFirst === undefined && first !== second)
      return { problem: `${shown(cell)} can be two days: write it as in 2026-04-01` };
    const [day, month] = mark === "/" && this.#isMonthFirst === true ? [second, first] : [first, second];
    const iso = mark === "" ? cell : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}${rest}`;
    const [, date = "", time = "00:00:00", zone = "Z"] =
      /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)?)?$/.exec(iso) ?? [];
    const at = new Date(`${date}T${time}${zone === "UTC" ? "Z" : zone}`);
    // A day that the month does not have would be one of the next month.
    const isDay = z.iso.date().safeParse(date).success && date.startsWith("20");
    return isDay && !Number.isNaN(at.getTime())
      ? { at: at.toISOString() }
      : { problem: `${shown(cell)} is no day or time` };
  }
}
