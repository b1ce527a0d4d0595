import type { PriceRow } from "../../shared/money/prices/rate-card.ts";

/** Rows of a rate card, by their prefixes and what customers pay, in micro-units. */
export function priceRows(prices: Readonly<Record<string, number>>): PriceRow[] {
  return Object.entries(prices).map(([prefix, priceMicros]) => ({ prefix, priceMicros, costMicros: {} }));
}

/** A price for messages that are accepted without a rate card: the same for all destinations. */
export const onePrice = { unitPriceMicros: (): number => 7_900 };
