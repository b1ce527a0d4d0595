import { parsePhoneNumberFromString, type CountryCode } from "libphonenumber-js/min";

import { phoneNumberOf } from "./typed.ts";

/** The digits of a number, with the code of the country if it has none. */
export function numberOf(text: string, country: string): string {
  const typed = phoneNumberOf(text);
  if (country === "" || /^(\+|00)/.test(text)) return typed;
  // The list of countries is the library's own.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const number = parsePhoneNumberFromString(text, country as CountryCode);
  return number?.isPossible() === true ? number.number.slice(1) : typed;
}
