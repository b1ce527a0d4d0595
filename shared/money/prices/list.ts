import type { Price, PricesQuery } from "../../api/contract/prices.ts";
import type { Page } from "../../api/contract/primitives.ts";
import { now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { pageOf } from "../../platform/table/page.ts";
import type { OrganizationRecord } from "../../tenancy/organizations/record.ts";
import { amountOf } from "../wallet/money.ts";
import { blockedPrefixes, isBlocked } from "./blocked-destinations.ts";
import { currentRateCard } from "./current.ts";
import { findPriceOverrides } from "./overrides.ts";
import type { PriceRow, RateCard } from "./rate-card.ts";

/**
 * Returns a page of an organization's current prices per segment, by prefix, without those of blocked destinations.
 * @throws ApiError UNAVAILABLE when the rate card cannot be read
 */
export async function listPrices(organization: OrganizationRecord, query: PricesQuery): Promise<Page<Price>> {
  const [card, overrides, blocked] = await Promise.all([
    currentRateCard(),
    findPriceOverrides(organization),
    blockedPrefixes(organization.id),
  ]);
  const at = now();
  const all = overrides === undefined ? card.rowsAt(at) : withOverrides(card, overrides, at);
  const rows = blocked.length === 0 ? all : all.filter((row) => !isBlocked(row.prefix, blocked));
  const { prefix, country } = query;
  const ofPrefix = prefix === undefined ? rows : isBlocked(prefix, blocked) ? [] : rowsOfPrefix(rows, prefix);
  const wanted = country === undefined ? ofPrefix : ofPrefix.filter((row) => row.country === country);
  const page = pageOf(wanted, query);
  return { rows: page.rows.map((row) => presentPrice(row, blocked)), meta: page.meta };
}

/** Returns the rows of a card with an organization's own prices, which replace rows or are added to them. */
export function withOverrides(card: RateCard, overrides: RateCard, at: Date): PriceRow[] {
  const ofCard = card.rowsAt(at).map((row) => {
    const own = overrides.rowFor(row.prefix, at);
    return own === undefined ? row : { ...row, priceMicros: own.priceMicros };
  });
  const prefixes = new Set(ofCard.map(({ prefix }) => prefix));
  const others = overrides
    .rowsAt(at)
    .filter(({ prefix }) => !prefixes.has(prefix))
    .map((row) => ({ ...row, country: row.country ?? card.rowFor(row.prefix, at)?.country }));
  return [...ofCard, ...others].toSorted((one, other) => (one.prefix < other.prefix ? -1 : 1));
}

/** Returns the rows that apply to numbers with a prefix: those that begin with it, and the one that covers it. */
export function rowsOfPrefix<Row extends Pick<PriceRow, "prefix">>(
  rows: readonly Row[],
  prefix: string,
): Row[] {
  const covering = rows.findLast((row) => prefix.startsWith(row.prefix))?.prefix;
  return rows.filter((row) => row.prefix === covering || row.prefix.startsWith(prefix));
}

function presentPrice({ prefix, country, priceMicros }: PriceRow, blocked: readonly string[]): Price {
  const within = blocked.filter((each) => each.startsWith(prefix));
  const price = { prefix, country, unitPrice: amountOf(priceMicros), currency: config.currency() };
  return within.length === 0 ? price : { ...price, blockedPrefixes: within };
}
