import { describe, expect, it } from "vitest";
import * as z from "zod/mini";

import callingCodes from "../../shared/api/contract/calling-codes.json" with { type: "json" };
import { callingCodeOf } from "../../shared/api/contract/written-numbers.ts";
import { formatNumber, readNumber } from "../../shared/api/read-number.ts";
import exampleNumbers from "../cases/example-numbers.json" with { type: "json" };
import { isNightly } from "../support/second-opinions.ts";

/*
 * Each written form of a number is this number, or a problem, or a question with this number as one of its choices. It is never
 * another number. The numbers are libphonenumber's examples of each country and type.
 */

/** The country, the type, the number in international digits, and as it is written in its country. */
const examples = z.array(z.tuple([z.string(), z.string(), z.string(), z.string()])).parse(exampleNumbers);
const codesWithZero: ReadonlySet<string> = new Set(callingCodes.withTrunkZero.map(String));

/** Countries that a person may have chosen for a file whose numbers are from others too, and for none. */
const chosenCountries = isNightly
  ? ["", "AT", "AU", "BR", "CI", "DE", "FR", "GB", "ID", "IN", "IT", "JP", "RU", "US"]
  : ["", "AT", "BR", "IT", "US"];

/** The digits that countries dial before an international number. */
const exitCodes = {
  AU: "0011",
  BR: "0014",
  CO: "009",
  CU: "119",
  FI: "990",
  HK: "001",
  IL: "012",
  JP: "010",
  KE: "000",
  KR: "00700",
  NG: "009",
  RU: "810",
  SG: "001",
  TH: "001",
  US: "011",
};

/** A number that no one can dial from abroad: Canada's short numbers of companies, of which `+1 310 1234` is a local call. */
const localOnly = new Set(["13101234"]);

interface Form {
  readonly text: string;
  readonly country: string;
  readonly number: string;
}

/** How often a form is the number, and all that are another one. */
function resultsOf(written: readonly Form[]): { readonly read: number; readonly wrong: string[] } {
  let read = 0;
  const wrong: string[] = [];
  for (const { text, country, number } of written) {
    const result = readNumber(text, country);
    if ("problem" in result) continue;
    const numbers =
      "number" in result ? [result.number] : [result.international, result.national].filter(Boolean);
    if (!numbers.includes(number)) wrong.push(`${text} in ${country}: ${numbers.join(" or ")}`);
    else if ("number" in result) read += 1;
  }
  return { read, wrong };
}

/** Forms of all examples, in each of the countries. */
function forms(
  write: (number: string, code: string, national: string) => string | undefined,
  countriesOf: (country: string) => readonly string[],
): Form[] {
  return examples.flatMap(([country, , number, national]) => {
    if (localOnly.has(number)) return [];
    const text = write(number, callingCodeOf(number) ?? "", national);
    return text === undefined
      ? []
      : countriesOf(country).map((chosen) => ({ text, country: chosen, number }));
  });
}

const anywhere = (country: string): readonly string[] => [...chosenCountries, country];
const inside = (country: string): readonly string[] => [country];
const outside = (country: string): readonly string[] => chosenCountries.filter((each) => each !== country);
const withTrunkZero = (write: (code: string, rest: string) => string) => (number: string, code: string) =>
  codesWithZero.has(code) ? write(code, number.slice(code.length)) : undefined;
const arabic = (text: string): string =>
  text.replaceAll(/\d/g, (digit) => "٠١٢٣٤٥٦٧٨٩".charAt(Number(digit)));
const wide = (text: string): string =>
  text.replaceAll(/\d/g, (digit) => "０１２３４５６７８９".charAt(Number(digit)));

it("there are examples of all countries and types", () => {
  expect(examples.length).toBeGreaterThan(1_100);
  expect(new Set(examples.map(([country]) => country)).size).toBeGreaterThan(240);
});

describe("a form that states the country code is read as the number, whatever country is chosen", () => {
  it.each([
    ["with a plus sign", (number: string) => `+${number}`],
    ["in groups", (number: string) => `${formatNumber(number)} `],
    [
      "with dashes, dots and marks",
      (number: string, code: string) => {
        const rest = number.slice(code.length);
        return `\u202A+${code}\u2013${rest.slice(0, 3)}.${rest.slice(3)}\u202C`;
      },
    ],
    ["in Arabic digits", (number: string) => `+${arabic(number)}`],
    ["in wide characters", (number: string) => `＋${wide(number)}`],
    ["as a URI", (number: string) => `tel:+${number}`],
    ["with (0)", withTrunkZero((code, rest) => `+${code} (0)${rest}`)],
    ["with the 0 of national calls", withTrunkZero((code, rest) => `+${code} 0${rest}`)],
  ] as const)("%s", (_, write) => {
    const all = forms(write, anywhere);
    expect(resultsOf(all)).toEqual({ read: all.length, wrong: [] });
  });
});

describe("a form with an exit code is the number, a problem or a question", () => {
  it("00, anywhere", () => {
    const all = forms((number) => `00${number}`, anywhere);
    const { read, wrong } = resultsOf(all);
    expect(wrong).toEqual([]);
    expect(read / all.length).toBeGreaterThan(0.95);
  });

  it.each(Object.entries(exitCodes))("that of %s, %s", (country, exitCode) => {
    const own = new Set(examples.flatMap(([of, , number]) => (of === country ? [number] : [])));
    const all = forms(
      (number) => `${exitCode}${number}`,
      () => [country],
    ).filter(({ number }) => !own.has(number));
    const { read, wrong } = resultsOf(all);
    expect(wrong).toEqual([]);
    expect(read / all.length).toBeGreaterThan(0.7);
  });
});

describe("a form of the country is read with it", () => {
  it.each([
    ["as it is written there", (_number: string, _code: string, national: string) => national],
    [
      "with hyphens",
      (_number: string, _code: string, national: string) => national.replaceAll(/[ /.]/g, "-"),
    ],
    ["with the country code and no plus sign", (number: string) => number],
    ["with the decimal of a spreadsheet", (number: string) => `${number}.0`],
    ["in the digits after the country code", (number: string, code: string) => number.slice(code.length)],
  ] as const)("%s", (_, write) => {
    const all = forms(write, inside);
    const { read, wrong } = resultsOf(all);
    expect(wrong).toEqual([]);
    expect(read / all.length).toBeGreaterThan(0.9);
  });

  // All other digits begin with a country code if no one has chosen a country, as in the contract.
  it("and without a country a 0 or parentheses show that it has no country code", () => {
    const all = forms(
      (_number, _code, national) => (/^0|\(/.test(national) ? national : undefined),
      () => [""],
    );
    expect(resultsOf(all)).toEqual({ read: 0, wrong: [] });
  });
});

it("digits with the code of another country are that number, a problem or a question", () => {
  expect(resultsOf(forms((number) => number, outside)).wrong).toEqual([]);
});
