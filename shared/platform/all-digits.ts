/**
 * A reviver for `JSON.parse`: an integer that a number would round becomes the text of its digits. Carriers have ids of 64 bits.
 */
export function withAllDigits(
  _name: string,
  value: unknown,
  context?: { readonly source?: string },
): unknown {
  const isRounded = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isRounded ? (context?.source ?? value) : value;
}
