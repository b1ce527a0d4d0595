import type { PriceRow } from "../../shared/money/prices/rate-card.ts";
import { destinationColumns, problem, readCarrierFile } from "./carrier-file.ts";
import { Amounts, currenciesIn, destinationIn, isProblem, Moments, rateOf } from "./carrier-values.ts";
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
  price:
    /^((unit|net|new|sms) )?(price|rate|cost)( (per (sms|segment|part|message|msg)|submit|delivered|msg))?$/,
  from: /^(effective|effective (date|from)|valid from|from|start|start date)$/,
  until: /^(valid (to|until)|until|end|end date|expires)$/,
} as const;

/**
 * Reads a price list of a carrier.
 * @param rate the price of one unit of the list's currency in the stage's
 * @param currency the stage's
 */
export async function readCostList(
  file: string,
  { rate: stated, currency }: { readonly rate: number | undefined; readonly currency: string },
): Promise<CostList | { readonly errors: readonly Problem[] }> {
  const read = await readCarrierFile(file, columns, {
    isWhole: (found) =>
      found.has("price") && ["prefix", "mcc", "mccmnc", "country"].some((name) => found.has(name)),
    needed: "Price, with Prefix, Country, or MCC and MNC",
  });
  if ("problem" in read) return { errors: [read] };
  const { lines, headings } = read;
  const prices = lines.map(({ cells }) => cells.price ?? "");
  const named = currenciesIn([
    headings.price ?? "",
    ...lines.map(({ cells }) => cells.currency ?? ""),
    ...prices,
  ]);
  const rate = rateOf(named, currency, stated);
  if (isProblem(rate)) return { errors: [problem(1, "price", rate.problem)] };
  const errors: Problem[] = [];
  const amounts = new Amounts(prices, rate);
  const moments = new Moments(lines.flatMap(({ cells }) => [cells.from ?? "", cells.until ?? ""]));
  const ofPrefixes = new Map<string, Cost[]>();
  const ofCountries = new Map<string, Map<string, Cost[]>>();
  const isOfNetworks = headings.mcc !== undefined || headings.mccmnc !== undefined;
  for (const { line, cells } of lines) {
    const wrong = (column: string, text: string): void => void errors.push(problem(line, column, text));
    const amount = amounts.read(cells.price ?? "");
    const from = moments.read(cells.from ?? "");
    const until = moments.read(cells.until ?? "");
    const destination = destinationIn(cells);
    // Beside networks, a dial code is that of the country.
    const prefix = isOfNetworks ? "" : (cells.prefix ?? "").replace(/^\+/, "");
    if (isProblem(amount)) wrong("price", amount.problem);
    else if (amount.micros <= 0)
      wrong(
        "price",
        `${shown(cells.price ?? "")} is no cost: leave out the line, or check its decimal comma`,
      );
    else if (amount.micros > maxAmountMicros) wrong("price", `${shown(cells.price ?? "")} is more than 1000`);
    if (isProblem(from)) wrong("effective", from.problem);
    if (isProblem(until)) wrong("valid to", until.problem);
    else if (until !== "")
      wrong(
        "valid to",
        "an end of a cost cannot be imported: leave out the column and lines that have ended",
      );
    if (isProblem(destination)) wrong("network", destination.problem);
    if (prefix !== "" && !/^[1-9]\d{0,14}$/.test(prefix))
      wrong("prefix", `${shown(prefix)} must be 1 to 15 digits`);
    else if (prefix === "" && !isProblem(destination) && destination.country === undefined)
      wrong(
        "country",
        `${shown(cells.country ?? "")} is no country, and no country has the MCC ${shown(cells.mcc ?? cells.mccmnc ?? "")}`,
      );
    if (errors.at(-1)?.line === line || isProblem(amount) || isProblem(from) || isProblem(destination))
      continue;
    const { country = "", networks } = destination;
    const ofCountry = ofCountries.get(country) ?? new Map<string, Cost[]>();
    if (prefix === "") ofCountries.set(country, ofCountry);
    const names = prefix === "" ? (networks.length === 0 ? [""] : networks) : [prefix];
    for (const name of names) {
      const all = prefix === "" ? ofCountry : ofPrefixes;
      const costs = all.get(name) ?? [];
      all.set(name, costs);
      const twin = costs.find((each) => each.from === from);
      if (twin === undefined) costs.push({ from, micros: amount.micros });
      else if (twin.micros !== amount.micros)
        wrong("price", "the same destination has another cost for the same time");
    }
  }
  for (const all of [ofPrefixes, ...ofCountries.values()])
    for (const costs of all.values()) costs.sort(inOrder);
  if (lines.length === 0) errors.push(problem(1, "", "there is no row after the headings"));
  return errors.length > 0 ? { errors } : { lines: lines.length, ofPrefixes, ofCountries };
}

function inOrder(one: Cost, other: Cost): number {
  return one.from < other.from ? -1 : 1;
}

/** The country whose cost counts for a prefix that several share. */
const mainCountries: Readonly<Record<string, string>> = {
  "1": "US",
  "7": "RU",
  "39": "IT",
  "44": "GB",
  "47": "NO",
  "61": "AU",
  "212": "MA",
  "262": "RE",
  "290": "SH",
  "358": "FI",
  "590": "GP",
  "599": "CW",
};

/** Returns the country of a row of prices. */
export function countryOfRow({ prefix, country }: Pick<PriceRow, "country" | "prefix">): string | undefined {
  return country ?? mainCountries[prefix];
}

/**
 * Returns the cost that a list states for a message at a moment: that of the longest prefix of its number, or of its network. Without the
 * network, it is that of all networks of the country.
 * @param network MCC and MNC, or empty
 */
export function costOfMessage(
  { ofPrefixes, ofCountries }: CostList,
  {
    to,
    country,
    network,
    at,
  }: { readonly to: string; readonly country: string; readonly network: string; readonly at: string },
): number | undefined {
  const networks = ofCountries.get(country);
  return (
    costOfLongest(ofPrefixes, to, at) ?? costAt(networks?.get(network), at) ?? costAt(networks?.get(""), at)
  );
}

function costOfLongest(ofPrefixes: CostList["ofPrefixes"], number: string, at: string): number | undefined {
  for (let length = number.length; length > 0; length -= 1) {
    const cost = costAt(ofPrefixes.get(number.slice(0, length)), at);
    if (cost !== undefined) return cost;
  }
  return undefined;
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

  /** Returns the prefixes of the list whose numbers have no row. */
  unsoldPrefixes(): readonly string[] {
    return this.#within.get("") ?? [];
  }

  #costOfPrefix(prefix: string, at: string): number | undefined {
    const { ofPrefixes } = this.#list;
    const covering = costOfLongest(ofPrefixes, prefix, at);
    const longer = (this.#within.get(prefix) ?? []).map((each) => costAt(ofPrefixes.get(each), at));
    return [covering, ...longer].reduce(
      (highest, cost) => (cost === undefined ? highest : Math.max(highest ?? 0, cost)),
      undefined,
    );
  }

  #costOfCountry(prefix: string, country: string, at: string): number | undefined {
    const all = this.#list.ofCountries.get(country);
    const costs = [...(all ?? [])].flatMap(([network, ofNetwork]) => {
      const micros = costAt(ofNetwork, at);
      if (network === "" || micros === undefined) return [];
      return [{ micros, prefixes: prefixesOfNetwork(country, network) }];
    });
    // Codes of the same network count once.
    const unpublished = costs.filter(({ prefixes }) => prefixes.length === 0);
    const published = Map.groupBy(
      costs.filter(({ prefixes }) => prefixes.length > 0),
      ({ prefixes }) => prefixes,
    );
    const shares = [...published].map(([prefixes, ofNetwork]) => ({
      micros: meanOf(ofNetwork.map(({ micros }) => micros)),
      covers: prefixes.some((each) => prefix.startsWith(each)),
      inRow: sizeOf(prefixes.filter((each) => this.#rowOf(each) === prefix)),
      inCountry: sizeOf(prefixes),
    }));
    if (shares.length === 0)
      return unpublished.length === 0
        ? costAt(all?.get(""), at)
        : roundedUp(meanOf(unpublished.map(({ micros }) => micros)));
    // A row inside the prefix of a network has its cost. A row with no published prefix has that of the country.
    const weightOf = (share: (typeof shares)[number]): number =>
      shares.some(({ covers }) => covers)
        ? Number(share.covers)
        : shares.some(({ inRow }) => inRow > 0)
          ? share.inRow
          : share.inCountry;
    const weight = sumOf(shares.map(weightOf));
    return roundedUp(sumOf(shares.map((share) => share.micros * weightOf(share))) / weight);
  }

  /** The prefix of the row that has the numbers with a prefix. */
  #rowOf(prefix: string): string {
    for (let length = prefix.length; length > 0; length -= 1) {
      if (this.#prefixes.has(prefix.slice(0, length))) return prefix.slice(0, length);
    }
    return "";
  }
}

/** The share of all numbers that begin with some prefixes. */
function sizeOf(prefixes: readonly string[]): number {
  return sumOf(prefixes.map((each) => 10 ** -each.length));
}

function meanOf(numbers: readonly number[]): number {
  return sumOf(numbers) / numbers.length;
}

export function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function roundedUp(micros: number): number {
  return Math.ceil(Number(micros.toPrecision(12)));
}
