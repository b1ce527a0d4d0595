import { microsOf } from "../wallet/money.ts";
import { documentOf, RateCard } from "./rate-card.ts";

/** The customer's price of one segment, in the currency of the stage, by the leading digits of the destination. */
const samplePrices: readonly (readonly [prefix: string, price: number, country?: string])[] = [
  // All other destinations.
  ["", 0.05],
  ["1", 0.0079],
  ["33", 0.076, "FR"],
  ["44", 0.046, "GB"],
  ["49", 0.089, "DE"],
  ["61", 0.0515, "AU"],
  ["91", 0.005, "IN"],
  ["234", 0.0145, "NG"],
];

/** The prices of a stage with `prices: "sample"` until an operator imports others. Every number has a price. */
export const sampleCard = new RateCard(
  documentOf(
    samplePrices.map(([prefix, price, country]) => ({
      prefix,
      country,
      priceMicros: microsOf(price),
      costMicros: {},
    })),
  ),
);
