import fc from "fast-check";
import { parsePhoneNumber, type NumberType as LibraryType } from "libphonenumber-js/max";
import metadata from "libphonenumber-js/metadata.max.json";
import { expect, it } from "vitest";
import * as z from "zod/mini";

import { numberLengths } from "../../infra/number-lengths.ts";
import { isPossibleNumber, type NumberType } from "../../shared/contract/phone-numbers.ts";
import { countryOfNumber, typesOfNumber } from "../../shared/messages/numbering-plan.ts";

const lengths = numberLengths();
const codesOfCountries: Readonly<Record<string, readonly string[]>> = metadata.country_calling_codes;

const Pattern = z.pipe(
  z.tuple([z.string()], z.unknown()),
  z.transform(([pattern]) => pattern),
);

/** The patterns of all types of numbers of a calling code. */
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

/** What the table calls the types of libphonenumber; of satellites are the mobile numbers without a country. */
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

/** Numbers of a country code: of any length, of possible ones, and such as a range of the metadata has. */
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

it("says of random numbers the same countries, types and possible lengths as libphonenumber-js", () => {
  let known = 0;
  fc.assert(
    fc.property(AnyNumber, (number) => {
      // In North America 976 is added to what libphonenumber has.
      fc.pre(/^\d{7,15}$/.test(number) && !/^1.{3}976/.test(number));
      const found = parsePhoneNumber(`+${number}`);
      // It takes off the 0 that callers inside a country dial first, and other such digits.
      fc.pre(found.number === `+${number}`);
      const country = found.country && (countriesOf[found.country] ?? found.country);
      // It has no country for what nobody was given, where several share the code.
      expect(country ?? countryOfNumber(number)).toBe(countryOfNumber(number));
      const [main] = codesOfCountries[found.countryCallingCode] ?? [];
      // Of Canada and of parts of countries, such as Christmas Island, it knows the lengths of their own.
      const isOfPart = found.country !== undefined && found.country !== main;
      expect(isPossibleNumber(number)).toBe(isOfPart ? isPossibleNumber(number) : found.isPossible());
      // It has a pattern of all numbers of a country too, which leaves out some very long German ones of its own ranges.
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
