/*
 * What people type, in the forms that the API takes.
 */

/** A text that may be left out: undefined when nothing was typed. */
export function given(text: string): string | undefined {
  return text.trim() === "" ? undefined : text.trim();
}

/** A number in digits of one as people write it: `+1 (500) 555-0000`. */
export function phoneNumberOf(text: string): string {
  return text.replaceAll(/[\s().\-/]/g, "").replace(/^(\+|00)/, "");
}

/** Tags that are written one after the other, with a comma or a semicolon between them. */
export function tagsOf(text: string): string[] {
  return [...new Set(text.split(/[,;]/).map((tag) => tag.trim()))].filter(Boolean);
}

/** How long messages are worth sending, in seconds; empty is the gateway's default. The API takes any number of seconds. */
export const expiryChoices = [
  ["", "Default"],
  ["300", "5 minutes"],
  ["600", "10 minutes"],
  ["3600", "1 hour"],
  ["21600", "6 hours"],
  ["86400", "1 day"],
  ["259200", "3 days"],
] as const;

/** One of the choices as a number of seconds. */
export function secondsOf(choice: string): number | undefined {
  return choice === "" ? undefined : Number(choice);
}
