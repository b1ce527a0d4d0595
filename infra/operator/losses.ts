import { routeFinder } from "../../shared/carriers/carriers.ts";
import type { RouteRecord } from "../../shared/carriers/record.ts";
import { MessageType } from "../../shared/contract/sms.ts";
import type { RateCard } from "../../shared/prices/rate-card.ts";

/*
 * Holds prices against what carriers take. The prefixes of prices and of routes divide all numbers into classes: of the
 * numbers of one class all have the same price, the same costs, and by message type the same carriers.
 */

/** What decides which carriers a message may go to, and what these take. */
export interface Market {
  readonly card: RateCard;
  readonly routes: readonly RouteRecord[];
  /** The carrier that takes everything where there is no route. */
  readonly stageCarrier: string;
}

/** A price that leaves less than it should after what a carrier of its route takes. Amounts are those of a segment. */
export interface Loss {
  /** What the numbers begin with. */
  readonly prefix: string;
  /** From when on, in ISO 8601; absent where it counts already. */
  readonly validFrom?: string;
  readonly messageTypes: readonly MessageType[];
  readonly priceMicros: number;
  readonly carrier: string;
  readonly costMicros: number;
  /** Whose price it is; absent where it is everybody's. */
  readonly organizationId?: string;
}

export interface Findings {
  readonly losses: readonly Loss[];
  /** By carrier, the prefixes for which it is not known what it takes. */
  readonly withoutCost: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface Question {
  readonly market: Market;
  /** The prefixes of the prices or the route that are looked at, with all that begins with them. */
  readonly prefixes: readonly string[];
  /** The prices of one organization. Only those of them that have one of the prefixes are looked at. */
  readonly own?: { readonly organizationId: string; readonly prices: RateCard };
  /** How things were. What was a loss then, as large as now, is left out. */
  readonly before?: Market;
  /** The share of a price that must be left. */
  readonly minimumMargin: number;
  readonly at: Date;
}

/** Finds the prices that leave too little, for any carrier of the routes that apply, now or from a later moment on. */
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

/** A millionth of a micro-unit: what is left is a whole number of them, and the share of a price may not be. */
const roundingMicros = 1e-6;

function isTooLittle(
  { priceMicros, costMicros }: Pick<Loss, "costMicros" | "priceMicros">,
  minimumMargin: number,
): boolean {
  return priceMicros - costMicros < priceMicros * minimumMargin - roundingMicros;
}

/** The prefixes that stand for all classes of numbers which begin with one of those that are asked for. */
function classesOf({ market, own, prefixes }: Question): Set<string> {
  const known = [
    ...market.card.prefixes(),
    ...market.routes.map(({ prefix }) => prefix),
    ...(own?.prices.prefixes() ?? []),
  ].toSorted();
  const found = new Set(prefixes);
  for (const prefix of prefixes) {
    for (let index = firstAtLeast(known, prefix); known[index]?.startsWith(prefix) === true; index += 1) {
      found.add(known[index] ?? "");
    }
  }
  return found;
}

/** The index of the first of sorted texts that does not come before one. */
function firstAtLeast(sorted: readonly string[], text: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? "") < text) low = middle + 1;
    else high = middle;
  }
  return low;
}

type CarriersOfNumber = (number: string) => ReadonlyMap<string, readonly MessageType[]>;

/** Tells which carriers the messages to a number may go to, with the types of these messages. */
function carriersIn({ routes, stageCarrier }: Market): CarriersOfNumber {
  const everyType = new Map([[stageCarrier, MessageType.options]]);
  if (routes.length === 0) return () => everyType;
  const find = routeFinder(routes);
  return (to) => {
    const types = new Map<string, MessageType[]>();
    for (const messageType of MessageType.options) {
      for (const carrier of find({ to, messageType })?.carriers ?? []) {
        types.set(carrier, [...(types.get(carrier) ?? []), messageType]);
      }
    }
    return types;
  };
}
