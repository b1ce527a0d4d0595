import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { currentRateCard } from "./current.ts";
import { findPriceOverrides } from "./overrides.ts";
import { verificationFee, type RateCard } from "./rate-card.ts";

/** The prices of messages for an organization, at one moment. */
export interface Prices {
  /** Returns the price of one segment to a number, in micro-units; undefined if the number has no price. */
  readonly unitPriceMicros: (to: string) => number | undefined;
}

export interface AllPrices extends Prices {
  /** Returns the fee for an approved verification of a number, in micro-units. */
  readonly verificationFeeMicros: (to: string) => number;
}

/**
 * Reads the prices of messages for an organization. Its own price applies to all numbers with the prefix, also if the rate card
 * has a longer prefix.
 * @param organization undefined if it has no record
 * @throws ApiError UNAVAILABLE when the rate card cannot be read
 */
export async function readPrices(organization: OrganizationRecord | undefined, at: Date): Promise<AllPrices> {
  const [card, overrides] = await Promise.all([
    currentRateCard(),
    organization === undefined ? undefined : findPriceOverrides(organization),
  ]);
  const feeIn = (prices: RateCard | undefined, to: string): number | undefined =>
    prices?.rowFor(to, at)?.costMicros[verificationFee];
  return {
    unitPriceMicros: (to) => (overrides?.rowFor(to, at) ?? card.rowFor(to, at))?.priceMicros,
    verificationFeeMicros: (to) => feeIn(overrides, to) ?? feeIn(card, to) ?? 0,
  };
}
