import { createRequire } from "node:module";

import * as z from "zod/mini";

import type { NumberType } from "../../api/contract/phone-numbers.ts";
import { callingCodeOf } from "../../api/contract/written-numbers.ts";

/*
 * The country and the types of a phone number, by the metadata of libphonenumber-js. The metadata is next to the bundle of a
 * function, which reads it with the first number.
 */

/** Countries are ISO 3166-1 codes and XK for Kosovo. A calling code names its main country first. */
const Metadata = z.object({
  country_calling_codes: z.record(z.string(), z.array(z.string())),
  countries: z.record(z.string(), z.array(z.unknown())),
  nonGeographic: z.record(z.string(), z.array(z.unknown())),
});
let metadata: z.infer<typeof Metadata> | undefined;

/** The types of numbers, in the order in which the metadata has their patterns. */
const typesInOrder = [
  "fixed",
  "mobile",
  "toll-free",
  "premium",
  "personal",
  "voicemail",
  "company",
  "pager",
  "voip",
  "shared-cost",
] as const satisfies readonly NumberType[];

/** The positions in a region's metadata of its leading digits, and of its patterns by type. */
const leadingDigits = 10;
const patternsByType = 11;

/** Reserved codes that libphonenumber uses for parts of Saint Helena; ISO 3166-1 assigns them to no country. */
const countriesOfReservedCodes: Readonly<Record<string, string>> = { AC: "SH", TA: "SH" };

/** The exchange 976 is pay-per-call in each area code of North America; libphonenumber does not know this. */
const northAmericanPremium: Range = { type: "premium", pattern: /^[2-9]\d\d976\d{4}$/ };

interface Country {
  readonly name: string;
  /** The leading digits, if these alone distinguish its numbers from others with the same code. */
  readonly begin: RegExp | undefined;
}

interface Range {
  readonly type: NumberType;
  /** For the digits after the calling code. */
  readonly pattern: RegExp;
  /** Undefined for all countries of the code. */
  readonly country?: string;
}

interface CallingCode {
  readonly countries: readonly Country[];
  readonly ranges: readonly Range[];
}

/** The calling codes that were read so far. A function sends to few countries. */
const read = new Map<string, CallingCode>();

/** Returns the country of a number in international digits; undefined if it has none. */
export function countryOfNumber(number: string): string | undefined {
  const { code, national } = partsOf(number);
  const [main, ...others] = code.countries;
  if (others.length === 0) return main?.name;
  const found = code.countries.find(({ name, begin }) =>
    begin === undefined
      ? code.ranges.some((range) => isIn(range, name) && range.pattern.test(national))
      : begin.test(national),
  );
  // Two dozen countries share +1: an area code of none of them does not belong to the main one.
  return (found ?? (number.startsWith("1") ? undefined : main))?.name;
}

/** Returns the countries that share a calling code, the main one first; none for a code of no country. */
export function countriesOfCallingCode(code: string): string[] {
  return partsOf(code).code.countries.map(({ name }) => name);
}

/**
 * Returns the possible types of a number in international digits; none if its range is not assigned. `fixed` and `mobile`
 * occur together if numbers do not distinguish them, as in the United States.
 */
export function typesOfNumber(number: string): readonly NumberType[] {
  const { code, national } = partsOf(number);
  const country = countryOfNumber(number);
  const types = code.ranges
    .filter((range) => isIn(range, country) && range.pattern.test(national))
    .map((range) => range.type);
  // A special service within a range of phones is not a phone.
  const special = types.filter((type) => type !== "fixed" && type !== "mobile");
  return [...new Set(special.length > 0 ? special : types)];
}

function isIn(range: Range, country: string | undefined): boolean {
  return range.country === undefined || range.country === country;
}

function partsOf(number: string): { code: CallingCode; national: string } {
  const digits = callingCodeOf(number) ?? "";
  const code = read.get(digits) ?? readCode(digits);
  read.set(digits, code);
  return { code, national: number.slice(digits.length) };
}

function readCode(digits: string): CallingCode {
  metadata ??= Metadata.parse(createRequire(import.meta.url)("libphonenumber-js/metadata.max.json"));
  const { country_calling_codes: codes, countries, nonGeographic } = metadata;
  const service = nonGeographic[digits];
  if (service !== undefined) return { countries: [], ranges: rangesOf(service, false) };
  const names = codes[digits] ?? [];
  const nameOf = (name: string): string => countriesOfReservedCodes[name] ?? name;
  const isShared = new Set(names.map(nameOf)).size > 1;
  return {
    countries: (isShared ? names : names.slice(0, 1)).map((name) => {
      const digitsOf = countries[name]?.[leadingDigits];
      const isKnown = isShared && typeof digitsOf === "string";
      return { name: nameOf(name), begin: isKnown ? new RegExp(`^(?:${digitsOf})`) : undefined };
    }),
    ranges: [
      ...names.flatMap((name) =>
        rangesOf(countries[name] ?? [], true).map((range) =>
          isShared ? { ...range, country: nameOf(name) } : range,
        ),
      ),
      ...(digits === "1" ? [northAmericanPremium] : []),
    ],
  };
}

/** Returns the ranges of a country, or of a service without a country. */
function rangesOf(region: readonly unknown[], isCountry: boolean): Range[] {
  const types: unknown = region[patternsByType];
  // A type that the region does not have is a 0, or missing at the end.
  const [fixed, mobile, ...others] = (Array.isArray(types) ? types : []).map((type: unknown) =>
    Array.isArray(type) ? String(type[0]) : "",
  );
  // If the metadata has no pattern of mobile numbers, they have the pattern of fixed lines.
  const patterns = [fixed, mobile || fixed, ...others];
  return typesInOrder.flatMap((type, index) => {
    const pattern = patterns[index] ?? "";
    if (pattern === "") return [];
    // Mobile numbers without a country belong to satellites, and to networks on ships and planes.
    const named = type === "mobile" && !isCountry ? "satellite" : type;
    return [{ type: named, pattern: new RegExp(`^(?:${pattern})$`) }];
  });
}
