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
}

/** Returns the rises from one state of the prices to another. @param prefixes those to compare */
export function risesBetween(
  before: (prefix: string) => PriceRow | undefined,
  after: (prefix: string) => PriceRow | undefined,
  prefixes: Iterable<string>,
): PriceRise[] {
  return [...new Set(prefixes)].toSorted().flatMap((prefix) => {
    const [old, next] = [before(prefix), after(prefix)];
    if (old === undefined || next === undefined || next.priceMicros <= old.priceMicros) return [];
    const { priceMicros: beforeMicros } = old;
    return [{ prefix, country: next.country, beforeMicros, afterMicros: next.priceMicros }];
  });
}

/** Returns the price that an organization pays for the numbers of a prefix at a moment. */
export function priceAt({ card, own }: PaidPrices, prefix: string, at: Date): PriceRow | undefined {
  const row = card.rowFor(prefix, at);
  const ownRow = own?.rowFor(prefix, at);
  return ownRow === undefined ? row : { ...ownRow, country: ownRow.country ?? row?.country };
}

/** Returns the rises at a moment, in ISO 8601. @param countries those that the rises must concern; all by default */
export function risesAt(prices: PaidPrices, moment: string, countries?: readonly string[]): PriceRise[] {
  const at = new Date(moment);
  const before = new Date(at.getTime() - 1);
  const rows = rowsOf(prices).filter(({ validFrom }) => validFrom === moment);
  return risesBetween(
    (prefix) => priceAt(prices, prefix, before),
    (prefix) => priceAt(prices, prefix, at),
    rows.map(({ prefix }) => prefix),
  ).filter(({ country }) => country === undefined || countries?.includes(country) !== false);
}

/** Returns the later moments from which prices apply, in ISO 8601. */
export function laterMoments(prices: PaidPrices): string[] {
  const present = now().toISOString();
  const moments = rowsOf(prices).flatMap(({ validFrom = "" }) => (validFrom > present ? [validFrom] : []));
  return [...new Set(moments)].toSorted();
}

function rowsOf({ card, own }: PaidPrices): readonly PriceRow[] {
  return own === undefined ? card.rows() : [...card.rows(), ...own.rows()];
}
