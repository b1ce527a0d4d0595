/** The most characters of a code that are kept. */
const maxLength = 32;

/** The most characters of a code; a longer value is text. */
const maxReadLength = 64;

/**
 * Returns a carrier's code for the reason of a failure, such as `21606` or `ThrottlingException`. It is cut to 32 of
 * the characters `A-Z a-z 0-9 _ . -`. Operators see it; customers do not.
 * @param given any value that a carrier has sent
 * @returns undefined if it is not a code: a carrier's text may have any content, even secrets
 */
export function providerCodeOf(given: unknown): string | undefined {
  if (typeof given !== "string" && typeof given !== "number") return undefined;
  const text = String(given);
  if (text.length > maxReadLength || !/^[A-Za-z0-9_.-]+$/.test(text)) return undefined;
  return text.slice(0, maxLength);
}
