import { expect, it } from "vitest";

import { Country } from "../../shared/contract/countries.ts";
import { countryOfNumber, prefixesOfCountries } from "../../shared/messages/numbering-plan.ts";

it.each([
  ["15005550000", "US"],
  ["12125550100", "US"],
  ["14165550100", "CA"],
  ["18765550100", "JM"],
  ["18095550100", "DO"],
  ["17875550100", "PR"],
  ["447400123456", "GB"],
  ["442071838750", "GB"],
  ["447781123456", "GG"],
  ["447797123456", "JE"],
  ["447624123456", "IM"],
  ["4915112345678", "DE"],
  ["79161234567", "RU"],
  ["77011234567", "KZ"],
  ["3906698123", "VA"],
  ["393123456789", "IT"],
  ["2348031234567", "NG"],
  ["262639123456", "YT"],
  ["262692123456", "RE"],
  ["59995123456", "CW"],
  ["5997123456", "BQ"],
  ["38344123456", "XK"],
])("%s is a number of %s", (number, country) => {
  expect(countryOfNumber(number)).toBe(country);
});

it.each([
  ["a premium number", "19005550100"],
  ["a free number", "18005550100"],
  ["an area code that nobody has", "12115550100"],
  ["a personal number", "447012345678"],
  ["a British premium number", "449012345678"],
  ["Inmarsat", "870773111632"],
  ["a satellite", "8811234567"],
  ["an international network", "882161234567"],
  ["the other international networks", "883140123456"],
  ["personal numbers of the world", "878101234567"],
  ["a disaster relief", "8881234567"],
  ["a premium number of the world", "9790000000"],
  ["a country code that nobody has", "2101234567"],
])("%s is no country's", (_name, number) => {
  expect(countryOfNumber(number)).toBeUndefined();
});

it("names countries by their codes, and gives no prefix to two of them", () => {
  const codes = Object.keys(prefixesOfCountries);
  expect(codes.filter((code) => !Country.safeParse(code).success)).toEqual(["XK"]);
  const prefixes = Object.values(prefixesOfCountries).flatMap((each) => each.split(" "));
  expect(prefixes.filter((prefix) => !/^[1-9]\d{0,7}$/.test(prefix))).toEqual([]);
  expect(new Set(prefixes).size).toBe(prefixes.length);
  // These have no numbers of their own: see the table.
  expect(Country.options.filter((code) => !codes.includes(code))).toEqual([
    "BL",
    "BV",
    "GS",
    "HM",
    "MF",
    "PN",
    "TF",
    "UM",
  ]);
});
