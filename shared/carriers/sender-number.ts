/** The most digits of a short code. */
const maxShortCode = 6;

/** Returns a number with the plus sign of international numbers. A short code has none. */
export function withPlusSign(number: string): string {
  return number.length > maxShortCode ? `+${number}` : number;
}
