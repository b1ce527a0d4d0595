import { readFile } from "node:fs/promises";

import { getCountries } from "libphonenumber-js/max";
import { expect, it } from "vitest";

import { readCallingCodes } from "../../infra/build/calling-codes.ts";
import { projectRoot } from "../../infra/build/project-root.ts";
import { Country } from "../../shared/api/contract/countries.ts";
import { countryOfNumber, typesOfNumber } from "../../shared/messages/destinations/numbering-plan.ts";

it("the calling codes that are checked in are those of the installed libphonenumber-js: npm run calling-codes", async () => {
  const file = `${projectRoot}/shared/api/contract/calling-codes.json`;
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual(readCallingCodes());
});

it("names countries by their codes of ISO 3166-1, and Kosovo by XK", () => {
  // Two parts of Saint Helena have reserved codes in the metadata.
  const names = new Set<string>(getCountries().map((name) => (["AC", "TA"].includes(name) ? "SH" : name)));
  expect([...names].filter((name) => !Country.safeParse(name).success)).toEqual(["XK"]);
  // They are uninhabited, or use the numbers of another.
  const withoutNumbers = Country.options.filter((name) => !names.has(name));
  expect(withoutNumbers).toEqual(["AQ", "BV", "GS", "HM", "PN", "TF", "UM"]);
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
  // Its regulator reserves them for films, and assigns them to no one.
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
