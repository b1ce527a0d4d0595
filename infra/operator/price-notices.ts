import { activeDays, owedRiseNotice } from "../../shared/figures/statements/rise-notice.ts";
import { readMargins } from "../../shared/messages/counts/figures.ts";
import { findPriceOverrides } from "../../shared/money/prices/overrides.ts";
import type { RateCard } from "../../shared/money/prices/rate-card.ts";
import {
  laterMoments,
  prefixesOf,
  risesAt,
  risesBetween,
  type PaidPrices,
  type PriceRise,
} from "../../shared/money/prices/rises.ts";
import { dayMs, now } from "../../shared/platform/clock.ts";
import { putItem } from "../../shared/platform/table/write.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import type { Context } from "./context.ts";
import { daysBefore } from "./margins.ts";

/** Organizations whose notices are scheduled at the same time. */
const batchSize = 25;

/** Warns of prices that a change raises sooner than customers can be notified. */
export function warnOfSuddenRises(
  before: PaidPrices,
  after: PaidPrices,
  { output, priceNoticeDays }: Context,
): void {
  if (priceNoticeDays === undefined) return;
  const end = new Date(now().getTime() + priceNoticeDays * dayMs).toISOString();
  const moments = [now().toISOString(), ...laterMoments(after).filter((moment) => moment < end)];
  // A prefix without a row any more has the price of a shorter one.
  const prefixes = [...prefixesOf(before), ...prefixesOf(after)];
  const sudden = moments.flatMap((moment) => {
    const at = new Date(moment);
    return risesBetween({ prices: before, at }, { prices: after, at }, prefixes);
  });
  const { size } = new Set(sudden.map(({ prefix }) => prefix));
  if (size > 0)
    output.aside(
      `Warning: the prices of ${size} prefixes rise without the notice of ${priceNoticeDays} days.`,
    );
}

/** The rises of the card by their moments. */
type RisesOfCard = ReadonlyMap<string, readonly PriceRise[]>;

/**
 * Schedules the notices to customers of a later rise. The function that sends them decides who is concerned. A repeat schedules
 * the same ones.
 * @param organizationId undefined for all that sent messages lately
 */
export async function scheduleRiseNotices(
  card: RateCard,
  organizationId: string | undefined,
  { output, priceNoticeDays }: Context,
): Promise<void> {
  if (priceNoticeDays === undefined) return;
  const ofCard: RisesOfCard = new Map(laterMoments({ card }).map((at) => [at, risesAt({ card }, at)]));
  const ids = organizationId === undefined ? await activeOrganizations() : [organizationId];
  let scheduled = 0;
  try {
    for (let start = 0; start < ids.length; start += batchSize) {
      const batch = ids.slice(start, start + batchSize);
      const counts = await Promise.all(batch.map(async (id) => schedule(id, card, ofCard, priceNoticeDays)));
      scheduled += counts.reduce((sum, count) => sum + count, 0);
      output.progress(`notices to ${start + batch.length} of ${ids.length} organizations scheduled`);
    }
  } catch (error) {
    output.aside(
      "The prices are changed, but not all notices of higher prices are scheduled: run prices restore with the current version.",
    );
    throw error;
  }
  if (scheduled > 0) output.note(`Scheduled notices of higher prices: ${scheduled}`);
}

async function activeOrganizations(): Promise<string[]> {
  const ids = new Set<string>();
  for (const day of daysBefore(activeDays, false)) {
    for await (const { organizationId } of readMargins(day)) ids.add(organizationId);
  }
  return [...ids];
}

/** Schedules the notices to one organization. @returns their number */
async function schedule(
  organizationId: string,
  card: RateCard,
  ofCard: RisesOfCard,
  noticeDays: number,
): Promise<number> {
  const organization = await findOrganization(organizationId);
  const own = organization && (await findPriceOverrides(organization));
  const moments = own === undefined ? [...ofCard.keys()] : laterMoments({ card, own });
  let scheduled = 0;
  for (const at of moments) {
    const rises = own === undefined ? (ofCard.get(at) ?? []) : risesAt({ card, own }, at);
    if (rises.length === 0) continue;
    await putItem(owedRiseNotice({ organizationId, at, rises }, noticeDays));
    scheduled += 1;
  }
  return scheduled;
}
