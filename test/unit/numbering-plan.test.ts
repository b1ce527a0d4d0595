import { readFile } from "node:fs/promises";

import fc from "fast-check";
import { parsePhoneNumber, type NumberType as LibraryType } from "libphonenumber-js/max";
import metadata from "libphonenumber-js/metadata.max.json";
import { expect, it } from "vitest";

import { compileNumberingPlan } from "../../infra/numbering-plan/compile.ts";
import { projectRoot } from "../../infra/project-root.ts";
import { Country } from "../../shared/contract/countries.ts";
import { isPossibleNumber, type NumberType } from "../../shared/contract/phone-numbers.ts";
import { countryOfNumber, typesOfNumber } from "../../shared/messages/numbering-plan.ts";

const compiled = compileNumberingPlan();

it("the tables that are checked in are those of the installed libphonenumber-js: npm run numbering-plan", async () => {
  const read = async (file: string): Promise<unknown> =>
    JSON.parse(await readFile(`${projectRoot}/shared/${file}`, "utf8"));
  expect(await read("contract/number-lengths.json")).toEqual(compiled.lengths);
  expect(await read("messages/numbering-plan.json")).toEqual(compiled.plan);
});

it("names countries by their codes of ISO 3166-1, and Kosovo by XK", () => {
  const names = new Set(
    Object.values(compiled.plan).flatMap(([countries = ""]) =>
      countries.split(" ").flatMap((country) => country.split(":")[0] || []),
    ),
  );
  expect([...names].filter((name) => !Country.safeParse(name).success)).toEqual(["XK"]);
  // They are uninhabited, or use the numbers of another.
  const withoutNumbers = Country.options.filter((name) => !names.has(name));
  expect(withoutNumbers).toEqual(["AQ", "BV", "GS", "HM", "PN", "TF", "UM"]);
});

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

const codes = Object.keys(compiled.lengths);
const digits = (length: number): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.constantFrom("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"),
    minLength: length,
    maxLength: length,
  });

/** Numbers of any length, of possible ones, and such as a range of the table has. */
const AnyNumber = fc.constantFrom(...codes).chain((code) => {
  const [, ...ranges] = compiled.plan[code] ?? [];
  const patterns = ranges.map((range) => new RegExp(`^(${range.split(" ")[1]?.replaceAll(".", "\\d")})$`));
  const national = fc.oneof(
    fc.integer({ min: 3, max: 14 }).chain(digits),
    fc.constantFrom(...(compiled.lengths[code] ?? [])).chain(digits),
    fc.constantFrom(...patterns).chain((pattern) => fc.stringMatching(pattern)),
  );
  return national.map((rest) => `${code}${rest}`);
});

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
      const [main] = compiled.plan[found.countryCallingCode]?.[0]?.split(" ") ?? [];
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

it.each([
  ["15005550000", "US", "personal"],
  ["12125550100", "US", "fixed mobile"],
  ["12029765000", "US", "premium"],
  ["19005550100", "US", "premium"],
  ["18005550100", "US", "toll-free"],
  ["12115550100", undefined, ""],
  ["14165550100", "CA", "fixed mobile"],
  ["18765550100", "JM", "mobile"],
  ["18095550100", "DO", "fixed mobile"],
  ["17875550100", "PR", "fixed mobile"],
  ["447400123456", "GB", "mobile"],
  ["442071838750", "GB", "fixed"],
  ["447012345678", "GB", "personal"],
  ["449012345678", "GB", "premium"],
  // Its regulator keeps them for films, and gives them to nobody.
  ["447700900123", "GB", ""],
  ["447781123456", "GG", "mobile"],
  ["447797123456", "JE", "mobile"],
  ["447624123456", "IM", "mobile"],
  ["4915112345678", "DE", "mobile"],
  ["79161234567", "RU", "mobile"],
  ["77011234567", "KZ", "mobile"],
  ["3906698123", "VA", "fixed"],
  ["393123456789", "IT", "mobile"],
  ["2348031234567", "NG", "mobile"],
  ["262639012345", "YT", "mobile"],
  ["262692123456", "RE", "mobile"],
  ["59995123456", "CW", "mobile"],
  ["5993181234", "BQ", "mobile"],
  ["24740123", "SH", "mobile"],
  ["38344123456", "XK", "mobile"],
  ["870773111632", undefined, "satellite"],
  ["8811234567", undefined, ""],
  ["881612345678", undefined, "satellite"],
  ["882161234567", undefined, "voip"],
  ["878101234567890", undefined, "voip"],
  ["979123456789", undefined, "premium"],
  ["80012345678", undefined, "toll-free"],
  ["80812345678", undefined, "shared-cost"],
  ["9991234567", undefined, ""],
])("%s is of %s, and of the types: %s", (number, country, types) => {
  expect(countryOfNumber(number)).toBe(country);
  expect(typesOfNumber(number).join(" ")).toBe(types);
});
