import { readMargins } from "../../shared/messages/counts/figures.ts";
import { findPriceOverrides } from "../../shared/money/prices/overrides.ts";
import type { RateCard } from "../../shared/money/prices/rate-card.ts";
import { owedRiseNotice } from "../../shared/money/prices/rise-notice.ts";
import {
  laterMoments,
  priceAt,
  risesAt,
  risesBetween,
  type PaidPrices,
} from "../../shared/money/prices/rises.ts";
import { dayMs, now } from "../../shared/platform/clock.ts";
import { putItem } from "../../shared/platform/table/write.ts";
import { findOrganization } from "../../shared/tenancy/organizations/record.ts";
import type { Context } from "./context.ts";
import { daysBefore } from "./margins.ts";

/** The customers of a country are those who sent messages to it in this time. */
const activeDays = 30;

/** Warns of prices that a change raises sooner than customers can be notified. */
export function warnOfSuddenRises(
  before: PaidPrices,
  after: PaidPrices,
  { output, priceNoticeDays }: Context,
): void {
  if (priceNoticeDays === undefined) return;
  const end = new Date(now().getTime() + priceNoticeDays * dayMs).toISOString();
  const moments = [now().toISOString(), ...laterMoments(after).filter((moment) => moment < end)];
  const prefixes = [...after.card.prefixes(), ...(after.own?.prefixes() ?? [])];
  const sudden = moments.flatMap((moment) => {
    const at = new Date(moment);
    return risesBetween(
      (prefix) => priceAt(before, prefix, at),
      (prefix) => priceAt(after, prefix, at),
      prefixes,
    );
  });
  const { size } = new Set(sudden.map(({ prefix }) => prefix));
  if (size > 0)
    output.aside(
      `Warning: the prices of ${size} prefixes rise without the notice of ${priceNoticeDays} days.`,
    );
}

/** Schedules the notices to the customers of the countries whose prices rise later. A repeat schedules the same ones. */
export async function scheduleRiseNotices(card: RateCard, context: Context): Promise<void> {
  const moments = laterMoments({ card }).filter((at) => risesAt({ card }, at).length > 0);
  if (moments.length === 0 || context.priceNoticeDays === undefined) return;
  const countriesOf = new Map<string, Set<string>>();
  for (const day of daysBefore(activeDays, false)) {
    for await (const { organizationId, margins } of readMargins(day)) {
      const countries = countriesOf.get(organizationId) ?? new Set();
      for (const { country } of margins) countries.add(country);
      countriesOf.set(organizationId, countries);
    }
  }
  let scheduled = 0;
  for (const [organizationId, countries] of countriesOf) {
    const organization = await findOrganization(organizationId);
    const own = organization && (await findPriceOverrides(organization));
    const rises = { organizationId, countries: [...countries].toSorted() };
    scheduled += await scheduleNotices(rises, { card, own }, context);
  }
  context.output.note(`Scheduled notices of higher prices: ${scheduled}`);
}

/** Schedules the notices to one organization. @returns their number */
export async function scheduleNotices(
  rises: { readonly organizationId: string; readonly countries?: string[] },
  prices: PaidPrices,
  { priceNoticeDays }: Pick<Context, "priceNoticeDays">,
): Promise<number> {
  if (priceNoticeDays === undefined) return 0;
  const puts = laterMoments(prices).flatMap(
    (at) => owedRiseNotice({ ...rises, at }, prices, priceNoticeDays) ?? [],
  );
  for (const put of puts) await putItem(put);
  return puts.length;
}
