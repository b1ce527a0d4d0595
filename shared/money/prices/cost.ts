import { log } from "../../platform/log.ts";
import { currentRateCard } from "./current.ts";
import type { RateCard } from "./rate-card.ts";

/** Returns the rate card; undefined if it cannot be read. Paid messages do not wait for it. */
export async function findPresentCard(): Promise<RateCard | undefined> {
  try {
    return await currentRateCard();
  } catch (error) {
    log.warn("prices.costs_not_known", { error });
    return undefined;
  }
}

/**
 * Returns the price of a carrier for a message, in micro-units. The rate card's valid row for the number states it. Undefined if
 * the row does not have the carrier, or if there is no card.
 */
export function costMicrosOf(
  card: RateCard | undefined,
  { to, segments }: { readonly to: string; readonly segments: number },
  { carrier, at }: { readonly carrier: string; readonly at: Date },
): number | undefined {
  const costMicros = card?.rowFor(to, at)?.costMicros[carrier];
  return costMicros === undefined ? undefined : costMicros * segments;
}
