import { MessageType } from "../../shared/api/contract/sms.ts";
import type { RouteRecord } from "../../shared/carriers/record.ts";
import { carrierFinder } from "../../shared/carriers/routes.ts";
import type { RateCard } from "../../shared/money/prices/rate-card.ts";

/*
 * Compares prices with carriers' costs. The prefixes of prices and routes divide all numbers into classes. All numbers of
 * a class have the same price, the same costs, and by message type the same carriers.
 */

/** The prices, costs and routes of a stage. */
export interface Market {
  readonly card: RateCard;
  readonly routes: readonly RouteRecord[];
  /** The carrier that gets the messages without a route. */
  readonly stageCarrier: string;
}

/** A price that is too low for the cost of a carrier of its route. Amounts are for one segment. */
export interface Loss {
  /** The first digits of the numbers. */
  readonly prefix: string;
  /** The start of a later price, in ISO 8601. */
  readonly validFrom?: string;
  readonly messageTypes: readonly MessageType[];
  readonly priceMicros: number;
  readonly carrier: string;
  readonly costMicros: number;
  /** The organization of a price override. */
  readonly organizationId?: string;
}

export interface Findings {
  readonly losses: readonly Loss[];
  /** By carrier, the prefixes for which its cost is unknown. */
  readonly withoutCost: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface Question {
  readonly market: Market;
  /** The prefixes to check, with all longer ones. */
  readonly prefixes: readonly string[];
  /** The price overrides of one organization. Only those with one of the prefixes are checked. */
  readonly own?: { readonly organizationId: string; readonly prices: RateCard };
  /** The state before the change. Losses that were as large then are left out. */
  readonly before?: Market;
  /** The share of a price that must remain after the cost. */
  readonly minimumMargin: number;
  readonly at: Date;
}

/** Finds the prices that are too low for any carrier of their route, now or at a later time. */
export function findLosses(question: Question): Findings {
  const { market, before, own, minimumMargin, at } = question;
  const carriersNow = carriersIn(market);
  const carriersBefore = before === undefined ? undefined : carriersIn(before);
  const losses: Loss[] = [];
  const withoutCost = new Map<string, Set<string>>();
  const prefixes = new Set(question.prefixes);
  for (const prefix of classesOf(question)) {
    const carriers = carriersNow(prefix);
    const changes = [market.card, own?.prices].flatMap((card) => card?.changesFor(prefix, at) ?? []);
    for (const moment of [at, ...[...new Set(changes)].map((each) => new Date(each))]) {
      const ownRow = own?.prices.rowFor(prefix, moment);
      if (own !== undefined && (ownRow === undefined || !prefixes.has(ownRow.prefix))) continue;
      const row = market.card.rowFor(prefix, moment);
      const priceMicros = (ownRow ?? row)?.priceMicros;
      if (priceMicros === undefined) continue;
      for (const [carrier, messageTypes] of carriers) {
        const costMicros = row?.costMicros[carrier];
        if (costMicros === undefined) {
          withoutCost.set(carrier, (withoutCost.get(carrier) ?? new Set()).add(prefix));
          continue;
        }
        if (!isTooLittle({ priceMicros, costMicros }, minimumMargin)) continue;
        const rowBefore = before?.card.rowFor(prefix, moment);
        const priceBefore = (ownRow ?? rowBefore)?.priceMicros ?? priceMicros;
        const costBefore = rowBefore?.costMicros[carrier];
        const typesBefore = carriersBefore?.(prefix).get(carrier) ?? [];
        const wasAsBad = costBefore !== undefined && priceBefore - costBefore <= priceMicros - costMicros;
        const newTypes = messageTypes.filter((type) => !wasAsBad || !typesBefore.includes(type));
        if (newTypes.length === 0) continue;
        losses.push({
          prefix,
          ...(moment === at ? {} : { validFrom: moment.toISOString() }),
          messageTypes: newTypes,
          priceMicros,
          carrier,
          costMicros,
          ...(own === undefined ? {} : { organizationId: own.organizationId }),
        });
      }
    }
  }
  return { losses, withoutCost };
}

/** Tolerance for the rounding error of a share: margins are whole numbers of micro-units. */
const roundingMicros = 1e-6;

function isTooLittle(
  { priceMicros, costMicros }: Pick<Loss, "costMicros" | "priceMicros">,
  minimumMargin: number,
): boolean {
  return priceMicros - costMicros < priceMicros * minimumMargin - roundingMicros;
}

/** One prefix for each class of the numbers to check. */
function classesOf({ market, own, prefixes }: Question): Set<string> {
  const known = [
    ...market.card.prefixes(),
    ...market.routes.map(({ prefix }) => prefix),
    ...(own?.prices.prefixes() ?? []),
  ].toSorted();
  const asked = new Set(prefixes);
  const isAsked = (prefix: string): boolean =>
    asked.has(prefix) || (prefix !== "" && isAsked(prefix.slice(0, -1)));
  return new Set([...asked, ...known.filter(isAsked)]);
}

type CarriersOfNumber = (number: string) => ReadonlyMap<string, readonly MessageType[]>;

/** Returns a function that finds the carriers for a number, with the message types of each. */
function carriersIn({ routes, stageCarrier }: Market): CarriersOfNumber {
  const find = carrierFinder(routes, stageCarrier);
  return (to) => {
    const types = new Map<string, MessageType[]>();
    for (const messageType of MessageType.options) {
      for (const carrier of find({ to, messageType })) {
        types.set(carrier, [...(types.get(carrier) ?? []), messageType]);
      }
    }
    return types;
  };
}
