import { vatCountryOf } from "../invoices/vat-country.ts";
import { vatForms } from "./vat-forms.ts";

/** The territories with a tax of their own, whose businesses have the VAT numbers of another country. */
const issuerOf: Readonly<Record<string, string>> = { AX: "FI", GP: "FR", MQ: "FR", RE: "FR" };

/**
 * Reads a VAT number as people write it: with spaces, dots and hyphens, in small letters, with GR for Greece.
 * @param country of the business; without one, or for one without a known form, two letters begin the number
 * @returns the number as its country writes it, or what is wrong with it. It may be unregistered.
 */
export function readVatNumber(text: string, country = ""): { number: string } | { problem: string } {
  const issuer = issuerOf[country] ?? vatCountryOf(country);
  const written = text.toUpperCase().replaceAll(/[\s\p{Cf}\p{Pd}./]/gu, "");
  const [check, example = ""] = vatForms[issuer] ?? [];
  if (check === undefined) {
    if (/^[A-Z]{2}[A-Z0-9]{2,13}$/.test(written) && written.startsWith(issuer)) return { number: written };
    return {
      problem: `must begin with ${issuer || "the code of its country"}; another number is a taxNumber`,
    };
  }
  const prefix = example.slice(0, 2);
  const number = issuer === "GR" ? written.replace(/^GR/, prefix) : written;
  if (!number.startsWith(prefix)) {
    const reason = number.startsWith("XI") ? ": numbers with XI are for goods only" : "";
    return { problem: `must begin with ${prefix}, like ${example}${reason}` };
  }
  const result = check(number);
  if (result.isValid) return { number: prefix + result.compact.replace(prefix, "") };
  if (result.error.name === "InvalidChecksum")
    return { problem: "has a wrong check digit: compare it with the registration" };
  return { problem: `must have the form of ${prefix} numbers, like ${example}` };
}

/** Returns what is wrong with a VAT number that is stored or in a stage's file, if anything is. */
export function vatNumberProblem(text: string, country?: string): string | undefined {
  const read = readVatNumber(text, country);
  if ("problem" in read) return read.problem;
  return read.number === text ? undefined : `must be written ${read.number}`;
}
