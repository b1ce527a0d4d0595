import { log } from "../platform/log.ts";
import { currentRateCard } from "./current.ts";
import type { RateCard } from "./rate-card.ts";

/** The rate card for those who send what has been paid, which does not wait for it; undefined where it cannot be read. */
export async function findPresentCard(): Promise<RateCard | undefined> {
  try {
    return await currentRateCard();
  } catch (error) {
    log.warn("prices.costs_not_known", { error });
    return undefined;
  }
}

/**
 * What a carrier takes for a message, in micro-units: of the row of the rate card that counts for the number at the moment;
 * undefined where that says nothing of the carrier, or there is no card.
 */
export function costMicrosOf(
  card: RateCard | undefined,
  { to, segments }: { readonly to: string; readonly segments: number },
  { carrier, at }: { readonly carrier: string; readonly at: Date },
): number | undefined {
  const costMicros = card?.rowFor(to, at)?.costMicros[carrier];
  return costMicros === undefined ? undefined : costMicros * segments;
}
