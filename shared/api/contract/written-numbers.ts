import callingCodes from "./calling-codes.json" with { type: "json" };
import { plainText } from "./plain-text.ts";

/*
 * Phone numbers as people, spreadsheets and programs write them. Where a text could mean two numbers, it means none.
 */

/** The lengths that the rest of a number can have, by country calling code (ITU-T E.164), as libphonenumber has them. */
const lengthsOfCodes: Readonly<Record<string, readonly number[] | undefined>> = callingCodes.lengths;

/** The codes of countries in which callers dial a 0 first, which does not belong to the number. */
export const codesWithZero: ReadonlySet<string> = new Set(callingCodes.withTrunkZero.map(String));

const maxCodeLength = 3;

/** Longer than a number that someone typed, with all that stands between its digits. */
const maxLength = 60;

/** The marks between the digits of a number (ITU-T E.123), and others that people write there. */
const separators = /[\s().\p{Pd}/\\·•_~]/gu;

/** A name before or after a number: `Mobile: …`, `… (Anna)`. One letter may be a mistyped digit. */
const names = /^(\p{L}{2,}[.:]? +|\p{L}{2,}:)|\([^\d()]*\)$/gu;

/** The number of a list before a phone number, or of a note after one: `1. …`, `… (2)`, `… (9-17)`. */
const ordinal = /^[1-9]\d?[.)]\s|\d\D*\((\D*\d){1,4}\D*\)$/;

const decimal = /^(\d+[.,]\d|\d{5,}[.,]\d{1,3})$/;
const date = /^((\d{1,2}[./-]){2}(19|20)\d\d|(19|20)\d\d([./-]\d{1,2}){2})$/;

interface WrittenNumber {
  /**
   * `international`: it begins with a plus sign or with 00. `national`: a 0, or a parenthesis that is not after a country code,
   * shows that it has none. `bare`: digits that show neither.
   */
  readonly form: "bare" | "international" | "national";
  /** All that one dials: digits, also a 00, and a plus sign. */
  readonly dialed: string;
  /** The digits without the plus sign or the 00. */
  readonly digits: string;
}

/** Reads what a text states by itself. @returns the reason if it is no phone number, or several */
export function writtenNumber(typed: string): WrittenNumber | { readonly problem: string } {
  if (typed.length > maxLength) return { problem: "is too long for a phone number" };
  if (/\p{No}/u.test(typed))
    return { problem: "has a small or encircled digit: write the digits of one number" };
  const text = plainText(typed)
    .trim()
    // A spreadsheet marks a text with an apostrophe, and writes a number with a decimal.
    .replace(/^['’`]/, "")
    .replace(/^tel:/i, "")
    .replace(/^(\+?[1-9]\d{6,})\.0+$/, "$1")
    .replaceAll(names, "")
    .trim();
  if (/^\+?[\d.,]+ ?E ?\+?\d+$/i.test(text))
    return {
      problem: "has lost digits, because the spreadsheet has a power of ten: write it in a cell for text",
    };
  if (decimal.test(text)) return { problem: "is a decimal number: write the digits of a phone number" };
  if (date.test(text)) return { problem: "is a date: write a phone number" };
  if (/\p{L}/u.test(text)) return { problem: "has letters" };
  const dialed = withoutSeparators(text).replace(/^\+00/, "+");
  if (!/^\+?\d+$/.test(dialed)) {
    return { problem: "has other characters than those of one phone number: write its digits only" };
  }
  const digits = dialed.replace(/^(\+|00)/, "");
  const isInternational = digits !== dialed;
  if (ordinal.test(text) || hasSeveral(text, isInternational)) {
    return { problem: "may be several phone numbers: write one" };
  }
  if (isInternational) return { form: "international", dialed, digits };
  const [beforeParenthesis = "", ...rest] = text.split("(");
  const hasAreaCode = rest.length > 0 && callingCodeOf(digits) !== withoutSeparators(beforeParenthesis);
  return { form: digits.startsWith("0") || hasAreaCode ? "national" : "bare", dialed, digits };
}

/** The most digits of an area code. */
const maxAreaLength = 5;

/** Whether a slash, or a mark like it, separates two numbers, and not an area code from its number. */
function hasSeveral(text: string, isInternational: boolean): boolean {
  const [first = 0, ...others] = text.split(/[/•~]/).map((part) => part.replaceAll(/\D/g, "").length);
  const last = others.at(-1) ?? Infinity;
  const isShort = last < 4 && [first, ...others].some((count) => count > 4);
  return isShort || (others.length > 0 && first > maxAreaLength + (isInternational ? maxCodeLength : 0));
}

/** Returns a text without spaces, dashes and other marks that people write between digits. */
export function withoutSeparators(text: string): string {
  return text.replaceAll(separators, "");
}

/**
 * Returns the number that a text states by itself: with a plus sign or 00, or in digits alone, as the contract has it.
 * @returns undefined if there is none, or none that can exist
 */
export function internationalNumber(typed: string): string | undefined {
  const written = writtenNumber(typed);
  return "problem" in written || written.form === "national" ? undefined : possibleNumber(written.digits);
}

/** Returns the number of international digits, without the 0 of national calls; undefined if no number can have them. */
export function possibleNumber(digits: string): string | undefined {
  const code = callingCodeOf(digits) ?? "";
  const rest = digits.slice(code.length);
  const number = code + (codesWithZero.has(code) ? rest.replace(/^0/, "") : rest);
  return isPossibleNumber(number) ? number : undefined;
}

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
  return lengthsOf(number)?.includes(number.length - (callingCodeOf(number)?.length ?? 0)) === true;
}

/** The lengths that numbers with the same calling code can have after it. */
export function lengthsOf(number: string): readonly number[] | undefined {
  return lengthsOfCodes[callingCodeOf(number) ?? ""];
}
