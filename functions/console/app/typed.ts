/*
 * Converts what people type into the forms that the API accepts.
 */

/** An optional text: undefined when empty. */
export function given(text: string): string | undefined {
  return text.trim() === "" ? undefined : text.trim();
}

/** The digits of a phone number such as `+1 (500) 555-0000`. */
export function phoneNumberOf(text: string): string {
  return text.replaceAll(/[\s().\-/]/g, "").replace(/^(\+|00)/, "");
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
