import * as z from "zod/mini";

import numberLengths from "./number-lengths.json" with { type: "json" };

/** The lengths that the rest of a number can have, by country calling code (ITU-T E.164), as libphonenumber has them. */
const lengthsOfCodes: Readonly<Record<string, readonly number[] | undefined>> = numberLengths;

const maxCodeLength = 3;

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
export const PhoneNumber = z
  .string()
  .check(z.regex(/^[1-9]\d{6,14}$/, { error: ({ input }) => problemOfForm(input, "without a plus sign") }))
  .register(z.globalRegistry, {
    description: "MSISDN in international digits: country code first, no plus sign.",
  });

/** A phone number of a list that people paste, or of a look-up: the same, also with a plus sign, which is taken off. */
export const GivenPhoneNumber = z
  .string()
  .check(
    z.regex(/^\+?[1-9]\d{6,14}$/, {
      error: ({ input }) => problemOfForm(input, "with or without a plus sign"),
      abort: true,
    }),
    z.overwrite((text) => text.replace(/^\+/, "")),
  )
  .register(z.globalRegistry, {
    description:
      "A phone number in international digits: country code first, with or without a plus sign. It is stored and returned " +
      "without the plus sign.",
  });

/** The same in a query string, where a plus sign that was not encoded arrives as a space. */
export const PhoneNumberInQuery = z.pipe(
  z.string().check(z.overwrite((text) => text.replace(/^ /, "+"))),
  GivenPhoneNumber,
);

/** The country calling code that international digits begin with; undefined when there is none such. */
export function callingCodeOf(number: string): string | undefined {
  for (let length = 1; length <= maxCodeLength; length += 1) {
    const code = number.slice(0, length);
    if (lengthsOfCodes[code] !== undefined) return code;
  }
  return undefined;
}

/** Whether international digits begin with a country calling code that exists, and have a length that its numbers can have. */
export function isPossibleNumber(number: string): boolean {
  const code = callingCodeOf(number) ?? "";
  return lengthsOfCodes[code]?.includes(number.length - code.length) === true;
}

function problemOfForm(input: unknown, plusRule: string): string {
  const rule = `must be the country code and the number in digits, ${plusRule}, such as 447700900123`;
  const meant = typeof input === "string" ? correctedNumber(input) : undefined;
  return meant === undefined ? rule : `${rule}; did you mean ${meant}?`;
}

/** Returns why international digits cannot be a phone number; undefined if they can. */
export function problemOfLength(number: string): string | undefined {
  const code = callingCodeOf(number);
  if (code === undefined) return "begins with no country code that exists";
  if (isPossibleNumber(number)) return undefined;
  const lengths = lengthsOfCodes[code]?.join(", ").replace(/, (\d+)$/, " or $1");
  const meant = correctedNumber(number);
  const example = meant === undefined ? "" : `, such as ${meant}`;
  return `cannot be a phone number: those of country code ${code} have ${lengths} digits after it${example}`;
}

/** Longer than a number that someone typed, with all that stands between its digits. */
const maxTypedLength = 40;

/**
 * Guesses the E.164 number from one with spaces, hyphens, dots, parentheses, 00 in front, or a national 0 prefix.
 * @returns undefined if the result is not a phone number either
 */
function correctedNumber(text: string): string | undefined {
  if (text.length > maxTypedLength) return undefined;
  const digits = text
    .normalize("NFKC")
    .replaceAll(/\(0\)|[\s().\-\u2010-\u2015/]/g, "")
    .replace(/^(\+|00)/, "");
  if (!/^[1-9]\d{6,15}$/.test(digits)) return undefined;
  const code = callingCodeOf(digits) ?? "";
  return [digits, digits.replace(`${code}0`, code)].find(
    (number) => number !== text && number.length <= 15 && isPossibleNumber(number),
  );
}
