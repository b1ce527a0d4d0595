import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { currentRateCard } from "./current.ts";
import { findPriceOverrides } from "./overrides.ts";

/** The prices of messages for an organization, at one moment. */
export interface Prices {
  /** Returns the price of one segment to a number, in micro-units; undefined if the number has no price. */
  readonly unitPriceMicros: (to: string) => number | undefined;
}

/**
 * Reads the prices of messages for an organization. Its own price applies to all numbers with the prefix, also if the rate card
 * has a longer prefix.
 * @param organization undefined if it has no record
 * @throws ApiError UNAVAILABLE when the rate card cannot be read
 */
export async function readPrices(organization: OrganizationRecord | undefined, at: Date): Promise<Prices> {
  const [card, overrides] = await Promise.all([
    currentRateCard(),
    organization === undefined ? undefined : findPriceOverrides(organization),
  ]);
  return { unitPriceMicros: (to) => (overrides?.rowFor(to, at) ?? card.rowFor(to, at))?.priceMicros };
}
