import type { PriceRow } from "../../shared/money/prices/rate-card.ts";
import {
  countryIn,
  currenciesOf,
  destinationColumns,
  microsIn,
  Moments,
  networkIn,
  problem,
  readCarrierFile,
} from "./carrier-file.ts";
import { prefixesOfNetwork } from "./networks.ts";
import { maxAmountMicros, shown, type Problem } from "./rates-file.ts";

/** The cost of a destination from a moment on, in ISO 8601; empty is always. */
interface Cost {
  readonly from: string;
  readonly micros: number;
}

/** A price list of a carrier. Costs are in the order of their moments. */
export interface CostList {
  /** The number of its lines with a cost. */
  readonly lines: number;
  /** By the first digits of numbers. */
  readonly ofPrefixes: ReadonlyMap<string, readonly Cost[]>;
  /** By country, and by MCC and MNC in it. The name is empty for all networks. */
  readonly ofCountries: ReadonlyMap<string, ReadonlyMap<string, readonly Cost[]>>;
}

const columns = {
  ...destinationColumns,
  prefix: /^(prefix|code|dial code|e ?164)$/,
  price: /^((unit|net|new|sms) )?(price|rate|cost)( (per sms|per segment|submit|delivered))?$/,
  from: /^(effective|effective (date|from)|valid from|from|start|start date)$/,
} as const;

/**
 * Reads a price list of a carrier.
 * @param rate the price of one unit of the list's currency in the stage's
 * @param currency the stage's
 */
export async function readCostList(
  file: string,
  { rate, currency }: { readonly rate: number | undefined; readonly currency: string },
): Promise<CostList | { readonly errors: readonly Problem[] }> {
  const read = await readCarrierFile(
    file,
    columns,
    (found) => found.has("price") && ["prefix", "mcc", "mccmnc", "country"].some((name) => found.has(name)),
  );
  if ("problem" in read) return { errors: [read] };
  const others = [...currenciesOf(read)].filter((each) => each !== currency);
  if (others.length > 0 && rate === undefined) {
    const text = `the costs are in ${others.join(" and ")}, and the stage's currency is ${currency}: state --rate`;
    return { errors: [problem(1, "price", text)] };
  }
  const errors: Problem[] = [];
  const moments = new Moments(read.lines.map(({ cells }) => cells.from ?? ""));
  const ofPrefixes = new Map<string, Cost[]>();
  const ofCountries = new Map<string, Map<string, Cost[]>>();
  for (const { line, cells } of read.lines) {
    const micros = microsIn(cells.price ?? "", rate ?? 1);
    const from = moments.read(cells.from ?? "");
    const wrong = (column: string, text: string): void => void errors.push(problem(line, column, text));
    if (micros === undefined || micros > maxAmountMicros)
      wrong("price", `${shown(cells.price ?? "")} must be an amount up to 1000, such as 0.0075`);
    if ("problem" in from) wrong("effective", from.problem);
    const prefix = (cells.prefix ?? "").replace(/^\+/, "");
    const { mcc, mnc } = networkIn(cells);
    const country = countryIn({ country: cells.country, mcc });
    if (prefix !== "" && !/^[1-9]\d{0,14}$/.test(prefix))
      wrong("prefix", `${shown(prefix)} must be 1 to 15 digits`);
    if (prefix === "" && country === undefined)
      wrong(
        "country",
        `${shown(cells.country ?? mcc)} is no country, and the MCC ${shown(mcc)} belongs to none`,
      );
    if (errors.at(-1)?.line === line || micros === undefined || "problem" in from) continue;
    const networks = ofCountries.get(country ?? "") ?? new Map<string, Cost[]>();
    if (prefix === "") ofCountries.set(country ?? "", networks);
    const [costs, name] = prefix === "" ? [networks, mnc === "" ? "" : `${mcc}${mnc}`] : [ofPrefixes, prefix];
    const before = costs.get(name) ?? [];
    const twin = before.find((each) => each.from === from.at);
    if (twin !== undefined && twin.micros !== micros)
      wrong("price", `the same destination has another cost for the same time`);
    else if (twin === undefined) costs.set(name, [...before, { from: from.at, micros }].toSorted(inOrder));
  }
  if (read.lines.length === 0) errors.push(problem(1, "", "there is no row after the headings"));
  return errors.length > 0 ? { errors } : { lines: read.lines.length, ofPrefixes, ofCountries };
}

function inOrder(one: Cost, other: Cost): number {
  return one.from < other.from ? -1 : 1;
}

/** The country whose cost counts for a prefix that several share. */
const mainCountries: Readonly<Record<string, string>> = { "1": "US", "7": "RU" };

/** Returns the country of a row of prices. */
export function countryOfRow({ prefix, country }: Pick<PriceRow, "country" | "prefix">): string | undefined {
  return country ?? mainCountries[prefix];
}

/**
 * Returns the cost that a list states for one network at a moment. Without the network, it is that of all networks of the country.
 * @param network MCC and MNC
 */
export function costOfNetwork(
  { ofCountries }: CostList,
  { country, network, at }: { readonly country: string; readonly network: string; readonly at: string },
): number | undefined {
  const networks = ofCountries.get(country);
  return costAt(networks?.get(network), at) ?? costAt(networks?.get(""), at);
}

function costAt(costs: readonly Cost[] | undefined, at: string): number | undefined {
  return costs?.findLast(({ from }) => from <= at)?.micros;
}

/**
 * The cost of a segment to the numbers of each row of prices, by a list.
 *
 * A row has the highest cost of the list's prefixes that its numbers have. A list of networks has no prefixes. A row then has the mean
 * of its country's networks, each by its share of the published prefixes in the row, rounded up. Networks without prefixes
 * count only if no network of the country has any, and then equally. A line for all networks counts where no network does.
 */
export class CostsOfRows {
  readonly #list: CostList;
  readonly #prefixes: ReadonlySet<string>;
  /** The prefixes of the list, by the row that has their numbers. */
  readonly #within: ReadonlyMap<string, readonly string[]>;

  /** @param prefixes those of all rows */
  constructor(list: CostList, prefixes: readonly string[]) {
    this.#list = list;
    this.#prefixes = new Set(prefixes);
    this.#within = Map.groupBy(list.ofPrefixes.keys(), (prefix) => this.#rowOf(prefix));
  }

  /** Returns the cost of a row at a moment; undefined if the list has none. */
  costOf(row: Pick<PriceRow, "country" | "prefix">, at: string): number | undefined {
    const exact = this.#costOfPrefix(row.prefix, at);
    const country = countryOfRow(row);
    return exact ?? (country === undefined ? undefined : this.#costOfCountry(row.prefix, country, at));
  }

  /** The moments from which a cost counts. */
  moments(): string[] {
    const all = [
      ...this.#list.ofPrefixes.values(),
      ...[...this.#list.ofCountries.values()].flatMap((each) => [...each.values()]),
    ];
    return [...new Set(all.flat().map(({ from }) => from))].toSorted();
  }

  #costOfPrefix(prefix: string, at: string): number | undefined {
    const { ofPrefixes } = this.#list;
    const covering = Array.from({ length: prefix.length }, (_, index) =>
      prefix.slice(0, prefix.length - index),
    )
      .map((each) => costAt(ofPrefixes.get(each), at))
      .find((cost) => cost !== undefined);
    const longer = (this.#within.get(prefix) ?? []).map((each) => costAt(ofPrefixes.get(each), at));
    const costs = [covering, ...longer].filter((cost) => cost !== undefined);
    return costs.length === 0 ? undefined : Math.max(...costs);
  }

  #costOfCountry(prefix: string, country: string, at: string): number | undefined {
    const all = this.#list.ofCountries.get(country);
    const networks = [...(all ?? [])].flatMap(([network, costs]) => {
      const micros = costAt(costs, at);
      if (network === "" || micros === undefined) return [];
      const prefixes = prefixesOfNetwork(country, network.slice(0, 3), network.slice(3));
      const inRow = prefixes.filter((each) => this.#rowOf(each) === prefix);
      return [
        { micros, isPublished: prefixes.length > 0, share: sumOf(inRow.map((each) => 10 ** -each.length)) },
      ];
    });
    const published = networks.filter(({ share }) => share > 0);
    if (published.length > 0) {
      const weight = sumOf(published.map(({ share }) => share));
      return roundedUp(sumOf(published.map(({ micros, share }) => micros * share)) / weight);
    }
    const counted = networks.some(({ isPublished }) => !isPublished)
      ? networks.filter(({ isPublished }) => !isPublished)
      : networks;
    if (counted.length > 0) return roundedUp(sumOf(counted.map(({ micros }) => micros)) / counted.length);
    return costAt(all?.get(""), at);
  }

  /** The prefix of the row that has the numbers with a prefix. */
  #rowOf(prefix: string): string {
    for (let length = prefix.length; length > 0; length -= 1) {
      if (this.#prefixes.has(prefix.slice(0, length))) return prefix.slice(0, length);
    }
    return "";
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function roundedUp(micros: number): number {
  return Math.ceil(Number(micros.toPrecision(12)));
}
