import * as z from "zod/mini";

import { Country } from "../../shared/api/contract/countries.ts";
import { countryOfNetwork } from "./networks.ts";
import { shown } from "./rates-file.ts";

/*
 * The values in the files of carriers, as each carrier writes them. All cells of a column together decide what its marks mean. A value
 * that can still be read in two ways is an error.
 */

/** A value, or why a cell has none. */
type Read<Value> = Value | { readonly problem: string };

export function isProblem(read: unknown): read is { readonly problem: string } {
  return typeof read === "object" && read !== null && "problem" in read;
}

/** The amounts of a column. */
export class Amounts {
  /** The mark before decimals; undefined if no cell shows it. */
  readonly #decimalMark: string | undefined;
  readonly #rate: number;

  /**
   * @param cells all cells of the column, which decide which mark is before the decimals
   * @param rate the price of one unit of the column's currency in the stage's
   */
  constructor(cells: readonly string[], rate: number) {
    this.#rate = rate;
    const marks = new Set(cells.map((cell) => decimalMarkOf(plainAmount(cell))).filter(Boolean));
    this.#decimalMark = marks.size === 1 ? [...marks][0] : undefined;
  }

  /** Reads an amount. @returns micro-units of the stage's currency, rounded up, and half of the last digit that the cell has */
  read(cell: string): Read<{ readonly micros: number; readonly halfDigitMicros: number }> {
    const plain = plainAmount(cell);
    const mark = decimalMarkOf(plain) ?? this.#decimalMark;
    const isAmbiguous = mark === undefined && twoMeanings.test(plain);
    if (isAmbiguous)
      return { problem: `${shown(cell)} can be two amounts: write it with a point and other decimals` };
    const other = mark === "," ? "." : ",";
    const digits = plain.replaceAll(other, "").replace(",", ".");
    if (!/^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?$/i.test(digits))
      return { problem: `${shown(cell)} must be an amount such as 0.0075` };
    const decimals = /[.](\d*)/.exec(digits)?.[1]?.length ?? 0;
    const unitMicros = this.#rate * 1_000_000;
    // A conversion leaves digits that no one means.
    const micros = Math.ceil(Number((Number(digits) * unitMicros).toPrecision(12)));
    return { micros, halfDigitMicros: (unitMicros * 10 ** -decimals) / 2 };
  }
}

/** An amount with one mark, which is before its decimals or between its thousands. */
const twoMeanings = /^-?[1-9]\d{0,2}[.,]\d{3}$/;

/** An amount without its currency and spaces. */
function plainAmount(cell: string): string {
  return cell.replaceAll(/[\p{Sc}\s']|\b[A-Z]{3}\b/gu, "");
}

/** The mark before the decimals of an amount, if it shows one: the last of two kinds, or one that separates no thousands. */
function decimalMarkOf(plain: string): string | undefined {
  const marks = plain.match(/[.,]/g) ?? [];
  const [first, last] = [marks[0], marks.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  if (first !== last) return last;
  if (marks.length > 1) return first === "," ? "." : ",";
  return twoMeanings.test(plain) ? undefined : first;
}

const symbols: Readonly<Record<string, string>> = {
  "€": "EUR",
  "£": "GBP",
  "₹": "INR",
  "₫": "VND",
  "₽": "RUB",
};
export const currencies = new RegExp(String.raw`\b(${Intl.supportedValuesOf("currency").join("|")})\b`, "g");

/** Returns the currencies that some headings and cells name. */
export function currenciesIn(texts: readonly string[]): ReadonlySet<string> {
  return new Set(
    texts.flatMap((text) => [
      ...(text.match(currencies) ?? []),
      ...(text.match(/\p{Sc}/gu) ?? []).flatMap((symbol) => symbols[symbol] ?? []),
    ]),
  );
}

/**
 * Returns the rate of a file with some currencies.
 * @param currency the stage's
 * @param stated the rate that the operator has stated
 */
export function rateOf(
  named: ReadonlySet<string>,
  currency: string,
  stated: number | undefined,
): Read<number> {
  const others = [...named].filter((each) => each !== currency);
  if (named.size > 1)
    return { problem: `the amounts are in ${[...named].join(" and ")}: divide the file by currency` };
  if (others.length > 0 && stated === undefined)
    return {
      problem: `the amounts are in ${others.join()}, and the stage's currency is ${currency}: state --rate`,
    };
  if (stated !== undefined && named.has(currency))
    return { problem: `the amounts are in ${currency} already: leave out --rate` };
  return stated ?? 1;
}

/** Reads a whole number, which may have marks of thousands, or decimals that are zero. */
export function wholeNumberIn(cell: string): number | undefined {
  const digits = cell.replace(/[.,]0{1,2}$/, "").replaceAll(/[\s,.](?=\d{3}(\D|$))/g, "");
  return /^\d{1,12}$/.test(digits) ? Number(digits) : undefined;
}

/** Codes for parts of Saint Helena, and names that the English of the platform does not have. */
const otherNames: Readonly<Record<string, string>> = {
  ac: "SH",
  ta: "SH",
  uk: "GB",
  greatbritain: "GB",
  usa: "US",
  unitedstatesofamerica: "US",
  russianfederation: "RU",
  czechrepublic: "CZ",
  turkey: "TR",
  hongkong: "HK",
  macau: "MO",
  ivorycoast: "CI",
  macedonia: "MK",
  korea: "KR",
  republicofkorea: "KR",
  uae: "AE",
  burma: "MM",
  swaziland: "SZ",
  capeverde: "CV",
};

const namesOfRegions = new Intl.DisplayNames("en", { type: "region" });
const codesByName = new Map(
  [...Country.options, "XK"].map((code) => [plainName(namesOfRegions.of(code) ?? ""), code]),
);

function plainName(name: string): string {
  return name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z]/g, "");
}

/** Returns the ISO 3166-1 code of a country by its code or English name. */
export function countryNamed(cell: string): string | undefined {
  const code = cell.trim().toUpperCase();
  if (Country.safeParse(code).success || code === "XK") return code;
  const name = plainName(cell);
  return otherNames[name] ?? codesByName.get(name);
}

/** A destination: the country, and MCC and MNC of its networks, such as `23415`. Without networks it is all of them. */
export interface Destination {
  readonly country: string | undefined;
  readonly networks: readonly string[];
}

const allNetworks = /^(|\*|-|all|any|default|n\/?a|other|others)$/i;

/** Reads a destination. Its country is that of the column, or of its networks. */
export function destinationIn(
  cells: Readonly<Partial<Record<"country" | "mcc" | "mccmnc" | "mnc", string>>>,
): Read<Destination> {
  const { mcc: ofColumn = "", mccmnc = "" } = cells;
  const both = mccmnc.replaceAll(/[\s-]/g, "");
  const mcc = (ofColumn || both.slice(0, 3)).replace(/\.0+$/, "");
  const mnc = cells.mnc ?? both.slice(3);
  const codes = allNetworks.test(mnc.trim())
    ? []
    : mnc.split(/[,;/\s]+/).map((each) => each.replace(/\.0+$/, ""));
  if (!/^(\d{3})?$/.test(mcc)) return { problem: `${shown(mcc)} is no MCC` };
  if (codes.some((code) => !/^\d{1,3}$/.test(code))) return { problem: `${shown(mnc)} is no MNC` };
  const networks = mcc === "" ? [] : codes.map((code) => `${mcc}${code.padStart(2, "0")}`);
  return { country: countryNamed(cells.country ?? "") ?? countryOfNetwork(mcc, networks[0]), networks };
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Reads days and times as a file writes them. */
export class Moments {
  readonly #isMonthFirst: boolean | undefined;

  /** @param cells all dates of the file, which together decide whether its months are first */
  constructor(cells: readonly string[]) {
    const parts = cells.map((cell) => /^(\d{1,2})\/(\d{1,2})\/\d{4}/.exec(cell));
    const has = (index: number): boolean => parts.some((each) => Number(each?.[index] ?? 0) > 12);
    this.#isMonthFirst = has(1) === has(2) ? undefined : has(2);
  }

  /** Returns a time in ISO 8601 and UTC, empty for an empty cell. */
  read(cell: string): Read<string> {
    if (cell === "") return "";
    const named = cell.replace(
      /^(\d{1,2})[- ]([A-Za-z]{3})[a-z]*[- ](\d{4})/,
      (_whole, day: string, name: string, year: string) =>
        `${day}.${months.indexOf(name.toLowerCase()) + 1}.${year}`,
    );
    const [, first = "", mark = "", second = "", year = "", rest = ""] =
      /^(\d{1,2})([./])(\d{1,2})\2(\d{4})(.*)$/.exec(named) ?? [];
    if (mark === "/" && this.#isMonthFirst === undefined && first !== second)
      return { problem: `${shown(cell)} can be two days: write it as in 2026-04-01` };
    const [day, month] = mark === "/" && this.#isMonthFirst === true ? [second, first] : [first, second];
    const iso =
      mark === ""
        ? named.replace(/^(\d{4})\/(\d\d)\/(\d\d)/, "$1-$2-$3")
        : `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}${rest}`;
    const [, date = "", time = "00:00:00", zone = "Z"] =
      /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)?)?$/.exec(iso) ?? [];
    const at = new Date(`${date}T${time}${zone === "UTC" ? "Z" : zone}`);
    // A day that the month does not have would be one of the next month.
    const isDay = z.iso.date().safeParse(date).success && date.startsWith("20");
    return isDay && !Number.isNaN(at.getTime())
      ? at.toISOString()
      : { problem: `${shown(cell)} is no day or time` };
  }
}
