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
