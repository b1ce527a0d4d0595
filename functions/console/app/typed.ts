import { signal } from "@preact/signals";

import { plainText } from "../../../shared/api/contract/plain-text.ts";
import { internationalNumber, writtenNumber } from "../../../shared/api/contract/written-numbers.ts";
import { FieldProblem } from "./problems.ts";

/*
 * Converts what people type into the forms that the API accepts.
 */

/** An optional text: undefined when empty. */
export function given(text: string): string | undefined {
  return text.trim() === "" ? undefined : text.trim();
}

/** Parses an amount with a comma or a point; NaN if it is none. */
export function typedAmount(text: string): number {
  return Number(text.trim().replace(",", ".") || "NaN");
}

/** Parses the amount of a field. @throws FieldProblem */
export function amountOf(field: string, text: string): number {
  const amount = typedAmount(text);
  if (Number.isNaN(amount)) throw new FieldProblem(field, "Enter an amount such as 25.");
  return amount;
}

/** The country of numbers without a country code: that of the browser, until the person chooses another one. */
export const phoneCountry = signal(new Intl.Locale(navigator.language).region ?? "");

/** Returns a number of the API in the form that a field reads: a plus sign shows its country code. Names stay as they are. */
export function typedForm(number: string): string {
  return /^\d{7,15}$/.test(number) ? `+${number}` : number;
}

/** Whether a number is written as in its country, so that the person has to choose the country. */
export function needsCountry(text: string): boolean {
  const written = writtenNumber(text);
  return "form" in written && written.form === "national";
}

/**
 * Returns the digits of a phone number that someone typed. A text without one stays as it is.
 * @throws FieldProblem if it is none, or could be two
 */
export async function numberIn(text: string, field = "to"): Promise<string> {
  if (text.trim() === "") return "";
  // Loaded on demand, because of its size.
  const { readNumber, textOfBoth } = await import("../../../shared/api/read-number.ts");
  const read = readNumber(text, phoneCountry.value);
  if ("number" in read) return read.number;
  if ("problem" in read) {
    // The gateway rejects all but digits itself, together with the other fields.
    if (!/^\+?\d{7,15}$/.test(text)) return text;
    throw new FieldProblem(field, `This number ${read.problem}.`);
  }
  throw new FieldProblem(field, `Write the number with its country code: ${textOfBoth(read)}.`);
}

/** Returns the digits of a prefix of numbers, or of a whole number, in the query of a view. */
export function prefixIn(text: string): string {
  return internationalNumber(text) ?? plainText(text).replaceAll(/^\s*00|\D/g, "");
}

/** Returns the sender that a person typed: a number of theirs, or a sender ID. Empty is the default one. */
export function senderIn(
  typed: string,
): { readonly from: string } | { readonly senderId: string | undefined } {
  const number = internationalNumber(typed) ?? typed.trim();
  return /^\d{3,15}$/.test(number) ? { from: number } : { senderId: given(typed) };
}

/** The tags in a list separated by commas or semicolons. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(/[,;]/).map((tag) => tag.trim()))].filter(Boolean);
}

/** The choices for the expiry of messages, in seconds; empty is the gateway's default. */
export const expiryChoices = [
  ["", "Default"],
  ["300", "5 minutes"],
  ["600", "10 minutes"],
  ["3600", "1 hour"],
  ["21600", "6 hours"],
  ["86400", "1 day"],
  ["259200", "3 days"],
] as const;

export function secondsOf(choice: string): number | undefined {
  return choice === "" ? undefined : Number(choice);
}
