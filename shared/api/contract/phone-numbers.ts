import * as z from "zod/mini";

import { about } from "./about.ts";
import { callingCodeOf, internationalNumber, isPossibleNumber, lengthsOf } from "./written-numbers.ts";

/**
 * The types of numbers, as libphonenumber has them: `company` is its UAN, and `satellite` what it calls mobile without a
 * country.
 */
export const numberTypes = [
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
  "satellite",
] as const;
export type NumberType = (typeof numberTypes)[number];

/** A phone number as it is stored and returned, and as the numbers of a message have to be. Its length can be impossible. */
export const PhoneNumber = about(
  z
    .string()
    .check(z.regex(/^[1-9]\d{6,14}$/, { error: ({ input }) => problemOfForm(input, "without a plus sign") })),
  "MSISDN in international digits: country code first, no plus sign.",
);

/** A phone number of a list that people paste, or of a look-up: the same, also with a plus sign, which is taken off. */
export const GivenPhoneNumber = about(
  z.string().check(
    z.regex(/^\+?[1-9]\d{6,14}$/, {
      error: ({ input }) => problemOfForm(input, "with or without a plus sign"),
      abort: true,
    }),
    z.overwrite((text) => text.replace(/^\+/, "")),
  ),
  "A phone number in international digits: country code first, with or without a plus sign. It is stored and returned " +
    "without the plus sign.",
);

/** The same in a query string, where a plus sign that was not encoded arrives as a space. */
export const PhoneNumberInQuery = z.pipe(
  z.string().check(z.overwrite((text) => text.replace(/^ /, "+"))),
  GivenPhoneNumber,
);

function problemOfForm(input: unknown, plusRule: string): string {
  const rule = `must be the country code and the number in digits, ${plusRule}, such as 447700900123`;
  const meant = typeof input === "string" ? internationalNumber(input) : undefined;
  return meant === undefined ? rule : `${rule}; did you mean ${meant}?`;
}

/** Returns why international digits cannot be a phone number; undefined if they can. */
export function problemOfLength(number: string): string | undefined {
  const code = callingCodeOf(number);
  if (code === undefined) return "begins with no country code that exists";
  if (isPossibleNumber(number)) return undefined;
  const lengths = lengthsOf(number)
    ?.join(", ")
    .replace(/, (\d+)$/, " or $1");
  const meant = internationalNumber(number);
  const example = meant === undefined ? "" : `, such as ${meant}`;
  return `cannot be a phone number: those of country code ${code} have ${lengths} digits after it${example}`;
}
