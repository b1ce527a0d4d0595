import { getCountryCallingCode, isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/max";

import { callingCodeOf, codesWithZero, possibleNumber, writtenNumber } from "./contract/written-numbers.ts";

/*
 * The reading of phone numbers that may be written as in a country. It needs the patterns of all numbers, so programs load
 * it on demand.
 */

/** The number that a text has, in international digits; or why it has none; or the two numbers that it could be. */
export type NumberReading = { readonly number: string } | { readonly problem: string } | TwoNumbers;

export interface TwoNumbers {
  /** The digits as a number that begins with a country code. */
  readonly international: string;
  /** The digits as a number of the country, if they can be one. */
  readonly national?: string;
}

/** The problem of a number that is written as in a country, if no one has chosen which. */
export const noCountryCode = "has no country code";

/**
 * Reads a phone number.
 * @param country of numbers without a country code (ISO 3166-1). It is empty if no one has chosen one: then digits alone
 * begin with a country code, as in the contract.
 */
export function readNumber(text: string, country: string): NumberReading {
  const written = writtenNumber(text);
  if ("problem" in written) return written;
  const { form, dialed, digits } = written;
  const stated = possibleNumber(form === "national" ? digits.replace(/^0/, "") : digits);
  if (country === "" || dialed.startsWith("+")) {
    if (form === "national") return { problem: noCountryCode };
    return stated === undefined
      ? { problem: "cannot be a phone number: check its digits" }
      : { number: stated };
  }
  const national = numberDialedIn(country, dialed);
  const isOfCountry = stated !== undefined && callingCodeOf(stated) === callingCodeOfCountry(country);
  // A zero or a parenthesis shows a national number, unless the country's own code is after it.
  const international = form === "national" && !(isOfCountry && isAssigned(stated)) ? undefined : stated;
  if (international === undefined || international === national) {
    return national === undefined
      ? { problem: "is no number of this country: add its country code, or choose another country" }
      : { number: national };
  }
  if (form !== "national" && isOfCountry && isAssigned(international)) return { number: international };
  if (national === undefined) {
    const isStated = form !== "bare" || isOfCountry || isAssigned(international);
    return isStated ? { number: international } : { international };
  }
  if (canGetMessages(national) && !isAssigned(international)) return { number: national };
  if (form === "international" && !isAssigned(national)) return { number: international };
  return { international, national };
}

/**
 * Returns the number that a carrier in a country means; undefined if it is none. Where callers dial a 0 first, a carrier writes it
 * in national numbers, so that all other digits begin with a country code.
 */
export function numberOfCarrier(text: string, country: string): string | undefined {
  const read = readNumber(text, country);
  if ("problem" in read) return undefined;
  if ("number" in read) return read.number;
  const isNational = text.startsWith("0") || !codesWithZero.has(callingCodeOfCountry(country) ?? "");
  return isNational ? (read.national ?? read.international) : read.international;
}

/** Returns the number that one reaches with these digits in a country; undefined if it cannot exist. */
function numberDialedIn(country: string, dialed: string): string | undefined {
  if (!isSupportedCountry(country)) return undefined;
  const number = parsePhoneNumberFromString(dialed, { defaultCountry: country, extract: false });
  return number?.isPossible() === true ? number.number.slice(1) : undefined;
}

/** Returns the country code of a country (ISO 3166-1); undefined for one without numbers. */
export function callingCodeOfCountry(country: string): string | undefined {
  return isSupportedCountry(country) ? getCountryCallingCode(country) : undefined;
}

/** Whether a number is in a range that has been assigned. */
function isAssigned(number: string): boolean {
  return parsePhoneNumberFromString(`+${number}`)?.isValid() === true;
}

/** Whether a number is assigned to more than a fixed line. */
function canGetMessages(number: string): boolean {
  const type = parsePhoneNumberFromString(`+${number}`)?.getType();
  return type !== undefined && type !== "FIXED_LINE";
}

/** Returns both numbers as people read them: `+49 971 501234567 or +971 50 123 4567`. */
export function textOfBoth({ national, international }: TwoNumbers): string {
  return [national, international]
    .filter((number) => number !== undefined)
    .map(formatNumber)
    .join(" or ");
}

/** Returns a number as people read it: `+49 171 1000000`. */
export function formatNumber(number: string): string {
  return parsePhoneNumberFromString(`+${number}`)?.formatInternational() ?? `+${number}`;
}
