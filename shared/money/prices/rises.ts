import { now } from "../../platform/clock.ts";
import type { PriceRow, RateCard } from "./rate-card.ts";

/** The prices that an organization pays: its own, and those of the rate card for all other numbers. */
export interface PaidPrices {
  readonly card: RateCard;
  readonly own?: RateCard | undefined;
}

/** A rise of the price of a segment. */
export interface PriceRise {
  readonly prefix: string;
  readonly country?: string | undefined;
  readonly beforeMicros: number;
  readonly afterMicros: number;
  /** Whether it is a price of the organization's own. */
  readonly isOwn: boolean;
}

/** Prices at a moment. */
interface PricesAt {
  readonly prices: PaidPrices;
  readonly at: Date;
}

/** Returns the rises from one state of the prices to another. @param prefixes those to compare */
export function risesBetween(before: PricesAt, after: PricesAt, prefixes: Iterable<string>): PriceRise[] {
  return [...new Set(prefixes)].toSorted().flatMap((prefix) => {
    const [old, next] = [rowOf(before, prefix), rowOf(after, prefix)];
    if (old === undefined || next === undefined || next.priceMicros <= old.priceMicros) return [];
    const { country, isOwn, priceMicros: afterMicros } = next;
    return [{ prefix, country, beforeMicros: old.priceMicros, afterMicros, isOwn }];
  });
}

/** Returns the row that applies to the numbers of a prefix, with the country of the card's row. */
function rowOf(
  { prices: { card, own }, at }: PricesAt,
  prefix: string,
): (PriceRow & { isOwn: boolean }) | undefined {
  const row = card.rowFor(prefix, at);
  const ownRow = own?.rowFor(prefix, at);
  if (ownRow === undefined) return row && { ...row, isOwn: false };
  return { ...ownRow, country: ownRow.country ?? row?.country, isOwn: true };
}

/** Returns the prefixes of which any has a price. */
export function prefixesOf({ card, own }: PaidPrices): string[] {
  return [...card.prefixes(), ...(own?.prefixes() ?? [])];
}

/** Returns the rises at a moment, in ISO 8601. */
export function risesAt(prices: PaidPrices, moment: string): PriceRise[] {
  const at = new Date(moment);
  const isNew = ({ validFrom }: PriceRow): boolean => validFrom === moment;
  const prefixes = prices.card
    .rows()
    .filter(isNew)
    .map(({ prefix }) => prefix);
  for (const { prefix } of prices.own?.rows().filter(isNew) ?? []) {
    // A price of its own is for all numbers with its prefix, also if the card has a longer one.
    prefixes.push(prefix, ...prices.card.prefixes().filter((each) => each.startsWith(prefix)));
  }
  return risesBetween({ prices, at: new Date(at.getTime() - 1) }, { prices, at }, prefixes);
}

/** Returns the later moments from which prices apply, in ISO 8601. */
export function laterMoments({ card, own }: PaidPrices): string[] {
  const present = now().toISOString();
  const rows = [...card.rows(), ...(own?.rows() ?? [])];
  const moments = rows.flatMap(({ validFrom = "" }) => (validFrom > present ? [validFrom] : []));
  return [...new Set(moments)].toSorted();
}
