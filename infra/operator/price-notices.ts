import { owedRiseNotice } from "../../shared/figures/statements/rise-notice.ts";
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
import { searchOrganizations } from "./organization.ts";

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
 * @param organizationId undefined for all
 */
export async function scheduleRiseNotices(
  card: RateCard,
  organizationId: string | undefined,
  { output, priceNoticeDays }: Context,
): Promise<void> {
  if (priceNoticeDays === undefined) return;
  const ofCard: RisesOfCard = new Map(laterMoments({ card }).map((at) => [at, risesAt({ card }, at)]));
  const search = async (id: string): Promise<string[]> => schedule(id, card, ofCard, priceNoticeDays);
  try {
    const found =
      organizationId === undefined
        ? (await searchOrganizations(search, output, { most: Infinity })).found
        : await search(organizationId);
    if (found.length > 0) output.note(`Scheduled notices of higher prices: ${found.length}`);
  } catch (error) {
    output.aside(
      "The prices are changed, but not all notices of higher prices are scheduled: run prices restore with the current version.",
    );
    throw error;
  }
}

/** Schedules the notices to one organization. @returns the moments of the rises */
async function schedule(
  organizationId: string,
  card: RateCard,
  ofCard: RisesOfCard,
  noticeDays: number,
): Promise<string[]> {
  // The command may have changed its prices just now.
  const organization = await findOrganization(organizationId, { consistent: true });
  const own = organization && (await findPriceOverrides(organization));
  const moments = own === undefined ? [...ofCard.keys()] : laterMoments({ card, own });
  const scheduled: string[] = [];
  for (const at of moments) {
    const rises = own === undefined ? (ofCard.get(at) ?? []) : risesAt({ card, own }, at);
    if (rises.length === 0) continue;
    await putItem(owedRiseNotice({ organizationId, at, rises }, noticeDays));
    scheduled.push(at);
  }
  return scheduled;
}
