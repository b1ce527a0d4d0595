import { microsOf } from "../wallet/money.ts";

/**
 * What one segment costs the customer, in USD, by the leading digits of the destination; the longest match
 * counts. These are sample prices: an operator puts its own here before going live.
 */
const pricePerSegment: Readonly<Record<string, number>> = {
  "1": 0.0079,
  "33": 0.076,
  "44": 0.046,
  "49": 0.089,
  "61": 0.0515,
  "91": 0.005,
  "234": 0.0145,
};

const defaultPricePerSegment = 0.05;

const longestPrefix = Math.max(...Object.keys(pricePerSegment).map((prefix) => prefix.length));

/** The price of one segment to a destination, in micro-units. */
export function unitPriceMicros(to: string): number {
  for (let length = longestPrefix; length > 0; length -= 1) {
    const price = pricePerSegment[to.slice(0, length)];
    if (price !== undefined) return microsOf(price);
  }
  return microsOf(defaultPricePerSegment);
}
