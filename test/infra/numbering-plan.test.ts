import fc from "fast-check";
import { parsePhoneNumber, type NumberType as LibraryType } from "libphonenumber-js/max";
import metadata from "libphonenumber-js/metadata.max.json";
import { expect, it } from "vitest";
import * as z from "zod/mini";

import { readCallingCodes } from "../../infra/build/calling-codes.ts";
import type { NumberType } from "../../shared/api/contract/phone-numbers.ts";
import { isPossibleNumber } from "../../shared/api/contract/written-numbers.ts";
import { countryOfNumber, typesOfNumber } from "../../shared/messages/destinations/numbering-plan.ts";

const { lengths } = readCallingCodes();
const codesOfCountries: Readonly<Record<string, readonly string[]>> = metadata.country_calling_codes;

const Pattern = z.pipe(
  z.tuple([z.string()], z.unknown()),
  z.transform(([pattern]) => pattern),
);

/** Returns the patterns of all types of numbers of a calling code. */
function patternsOf(code: string): string[] {
  const { countries, nonGeographic } = metadata;
  const regions: (readonly unknown[] | undefined)[] = codesOfCountries[code]?.map(
    (name) => Object.entries(countries).find(([country]) => country === name)?.[1],
  ) ?? [Object.entries(nonGeographic).find(([service]) => service === code)?.[1]];
  return regions
    .flatMap((region) => z.array(z.unknown()).parse(region?.[11] ?? []))
    .flatMap((type) => Pattern.safeParse(type).data ?? [])
    .filter((pattern) => pattern !== "");
}

/** The table's names for the types of libphonenumber. Mobile numbers without a country are satellites. */
const names: Readonly<Record<NonNullable<LibraryType>, readonly NumberType[]>> = {
  FIXED_LINE: ["fixed"],
  MOBILE: ["mobile"],
  FIXED_LINE_OR_MOBILE: ["fixed", "mobile"],
  TOLL_FREE: ["toll-free"],
  PREMIUM_RATE: ["premium"],
  PERSONAL_NUMBER: ["personal"],
  VOICEMAIL: ["voicemail"],
  UAN: ["company"],
  PAGER: ["pager"],
  VOIP: ["voip"],
  SHARED_COST: ["shared-cost"],
};

/** Both parts of Saint Helena are one country of ISO 3166-1. */
const countriesOf: Readonly<Record<string, string>> = { AC: "SH", TA: "SH" };

const codes = Object.keys(lengths);
const digits = (length: number): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.constantFrom("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
    minLength: length,
    maxLength: length,
  });

/** Generates numbers of a country code: of any length, of possible lengths, and in the ranges of the metadata. */
const numbersOf = codes.map((code) => {
  const ofRanges = patternsOf(code).map((pattern) => fc.stringMatching(new RegExp(`^(${pattern})$`)));
  const national = fc.oneof(
    fc.integer({ min: 3, max: 14 }).chain(digits),
    fc.constantFrom(...(lengths[code] ?? [])).chain(digits),
    fc.oneof(...ofRanges),
  );
  return national.map((rest) => `${code}${rest}`);
});
const AnyNumber = fc.oneof(...numbersOf);

it("finds the same countries, types and possible lengths of random numbers as libphonenumber-js", () => {
  let known = 0;
  fc.assert(
    fc.property(AnyNumber, (number) => {
      // In North America the table adds 976 to libphonenumber.
      fc.pre(/^\d{7,15}$/.test(number) && !/^1.{3}976/.test(number));
      const found = parsePhoneNumber(`+${number}`);
      // libphonenumber removes the 0 and other prefixes for calls inside a country.
      fc.pre(found.number === `+${number}`);
      const country = found.country && (countriesOf[found.country] ?? found.country);
      // It has no country for unassigned numbers, where several countries share the code.
      expect(country ?? countryOfNumber(number)).toBe(countryOfNumber(number));
      const [main] = codesOfCountries[found.countryCallingCode] ?? [];
      // It has separate lengths for Canada and for parts of countries, such as Christmas Island.
      const isOfPart = found.country !== undefined && found.country !== main;
      expect(isPossibleNumber(number)).toBe(isOfPart ? isPossibleNumber(number) : found.isPossible());
      // It also has a pattern for all numbers of a country, without some very long German numbers in its own ranges.
      const ofAll = found.country === undefined ? undefined : metadata.countries[found.country]?.[2];
      fc.pre(ofAll === undefined || new RegExp(`^(${ofAll})$`).test(found.nationalNumber));
      const type = found.getType();
      if (type !== undefined) known += 1;
      const isSatellite = type === "MOBILE" && country === undefined;
      const types = isSatellite ? ["satellite"] : type === undefined ? [] : names[type];
      expect(new Set(typesOfNumber(number))).toEqual(new Set(types));
    }),
    { numRuns: 20_000 },
  );
  expect(known).toBeGreaterThan(5_000);
});
