import type { OrganizationRecord } from "../accounts/organization-record.ts";
import { currentRateCard } from "./current.ts";
import { findPriceOverrides } from "./overrides.ts";

/** What messages cost an organisation, at one moment. */
export interface Prices {
  /** The price of one segment to a number, in micro-units; undefined where nothing is sold. */
  readonly unitPriceMicros: (to: string) => number | undefined;
}

/**
 * What messages cost an organisation. A price of its own counts for all numbers that begin with its prefix, also where the
 * rate card has a longer one.
 * @param organization undefined where it has no record
 * @throws ApiError UNAVAILABLE when the rate card cannot be read
 */
export async function readPrices(organization: OrganizationRecord | undefined, at: Date): Promise<Prices> {
  const [card, overrides] = await Promise.all([
    currentRateCard(),
    organization === undefined ? undefined : findPriceOverrides(organization),
  ]);
  return { unitPriceMicros: (to) => (overrides?.rowFor(to, at) ?? card.rowFor(to, at))?.priceMicros };
}
