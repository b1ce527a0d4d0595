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

/** The digits of a phone number such as `+1 (500) 555-0000`. */
export function phoneNumberOf(text: string): string {
  return text.replaceAll(/[\s().\-/]/g, "").replace(/^(\+|00)/, "");
}

/** Whether a number is written as in its country: with a zero instead of the country's code. */
export function isNational(text: string): boolean {
  return /^\(?0[1-9]/.test(text.trim());
}

/** The digits of a number that may be written as in a country. */
export async function numberIn(text: string, country: string): Promise<string> {
  if (!isNational(text)) return phoneNumberOf(text);
  // Loaded on demand, because of its size.
  const { numberOf } = await import("./national-numbers.ts");
  return numberOf(text.trim(), country);
}

/** Returns the sender that a person typed: a number of theirs, or a sender ID. Empty is the default one. */
export function senderIn(
  typed: string,
): { readonly from: string } | { readonly senderId: string | undefined } {
  const number = phoneNumberOf(typed);
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
