import { readFileSync } from "node:fs";

import * as z from "zod/mini";

import { callingCodeOf, type NumberType } from "../contract/phone-numbers.ts";

/**
 * By country calling code: its countries, then the ranges of its numbers, as libphonenumber has them. Countries are ISO
 * 3166-1 codes and XK for Kosovo, the main one first, and `:` before what the numbers of one begin with where that alone tells
 * it from the others. A range is the letters of its types, the pattern of the numbers after the calling code, and the
 * countries that have it where there are several. `npm run numbering-plan` compiles the table.
 * It lies beside the bundle of a function, which reads it with the first number.
 */
const Table = z.record(z.string(), z.array(z.string()));
let table: z.infer<typeof Table> | undefined;

/** The types of numbers, by their letters in the table. */
const typesByLetter = {
  f: "fixed",
  m: "mobile",
  t: "toll-free",
  p: "premium",
  n: "personal",
  a: "voicemail",
  u: "company",
  g: "pager",
  v: "voip",
  c: "shared-cost",
  s: "satellite",
} as const satisfies Record<string, NumberType>;

interface Country {
  readonly name: string;
  readonly begin: RegExp | undefined;
}

interface Range {
  readonly types: readonly NumberType[];
  readonly pattern: RegExp;
  /** Undefined for all countries of the code. */
  readonly countries: readonly string[] | undefined;
}

interface CallingCode {
  readonly countries: readonly Country[];
  readonly ranges: readonly Range[];
}

/** What was parsed so far. A function sends to few countries, so most of the table stays text. */
const parsed = new Map<string, CallingCode>();

/** The country that a number in international digits belongs to; undefined where it is no country's. */
export function countryOfNumber(number: string): string | undefined {
  const { code, national } = partsOf(number);
  const [main, ...others] = code.countries;
  if (others.length === 0) return main?.name;
  const found = code.countries.find(({ name, begin }) =>
    begin === undefined
      ? code.ranges.some((range) => isIn(range, name) && range.pattern.test(national))
      : begin.test(national),
  );
  // Two dozen countries share +1: an area code that none of them has is not the main one's.
  return (found ?? (number.startsWith("1") ? undefined : main))?.name;
}

/**
 * The types that a number in international digits may be of; none where its range is assigned to nobody. `fixed` and `mobile`
 * come together where numbers do not tell them apart, as in the United States.
 */
export function typesOfNumber(number: string): readonly NumberType[] {
  const { code, national } = partsOf(number);
  const country = countryOfNumber(number);
  const types = code.ranges
    .filter((range) => isIn(range, country) && range.pattern.test(national))
    .flatMap((range) => range.types);
  // A special service within a range of phones is no phone.
  const special = types.filter((type) => type !== "fixed" && type !== "mobile");
  return special.length > 0 ? special : types;
}

function isIn({ countries }: Range, country: string | undefined): boolean {
  return countries === undefined || (country !== undefined && countries.includes(country));
}

function partsOf(number: string): { code: CallingCode; national: string } {
  const digits = callingCodeOf(number) ?? "";
  table ??= Table.parse(JSON.parse(readFileSync(new URL("numbering-plan.json", import.meta.url), "utf8")));
  const code = parsed.get(digits) ?? parse(table[digits] ?? []);
  parsed.set(digits, code);
  return { code, national: number.slice(digits.length) };
}

function parse([countries = "", ...lines]: readonly string[]): CallingCode {
  return {
    countries: countries
      .split(" ")
      .filter((text) => text !== "")
      .map((text) => {
        const [name = "", begin] = text.split(":");
        return { name, begin: begin === undefined ? undefined : new RegExp(`^(${begin})`) };
      }),
    ranges: lines.map((line) => {
      const [letters = "", pattern = "", ...ofCountries] = line.split(" ");
      return {
        types: Object.entries(typesByLetter).flatMap(([letter, type]) =>
          letters.includes(letter) ? [type] : [],
        ),
        pattern: new RegExp(`^(${pattern})$`),
        countries: ofCountries.length === 0 ? undefined : ofCountries,
      };
    }),
  };
}
