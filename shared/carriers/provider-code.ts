/** The longest code that is kept of a carrier. */
const maxLength = 32;

/** Longer than any code: what is longer is text. */
const maxReadLength = 64;

/**
 * The code by which a carrier says why, such as `21606` or `ThrottlingException`, cut to 32 of the characters
 * `A-Z a-z 0-9 _ . -`. Operators see it; customers do not.
 * @param given anything that a carrier has sent
 * @returns undefined for whatever is no code: a carrier's text may hold anything, secrets too
 */
export function providerCodeOf(given: unknown): string | undefined {
  if (typeof given !== "string" && typeof given !== "number") return undefined;
  const text = String(given);
  if (text.length > maxReadLength || !/^[A-Za-z0-9_.-]+$/.test(text)) return undefined;
  return text.slice(0, maxLength);
}
