/** The price of a segment to some destinations, from a moment on. */
export interface PriceRow {
  /** The prefix of the numbers, in international digits; empty for all numbers that match no other row. */
  readonly prefix: string;
  /** An ISO 3166-1 code, or XK; absent if the prefix has several countries, or none. */
  readonly country?: string | undefined;
  /** The customer's price. */
  readonly priceMicros: number;
  /** ISO 8601; absent if it was always valid. */
  readonly validFrom?: string | undefined;
  /** The prices of the carriers, by their names, and `verificationFee`. The price of an absent carrier is unknown. */
  readonly costMicros: Readonly<Record<string, number>>;
}

/** The name of the fee for an approved verification among the costs, which no carrier can have. Release 0.3.0 ignores it. */
export const verificationFee = "verification fee";

/** The columns of a document that come before the carriers'. */
const columns = ["prefix", "country", "priceMicros", "validFrom"] as const;

/** Compares rows for their text order, which has all rows of a prefix together, in the order of their times. */
function inOrder(one: PriceRow, other: PriceRow): number {
  if (one.prefix !== other.prefix) return one.prefix < other.prefix ? -1 : 1;
  return (one.validFrom ?? "") < (other.validFrom ?? "") ? -1 : 1;
}

/** Returns the names of the carriers that have costs in rows. */
export function carriersWithCosts(rows: readonly PriceRow[]): string[] {
  return [...new Set(rows.flatMap(({ costMicros }) => Object.keys(costMicros)))].toSorted();
}

/**
 * Returns rows as the text that is stored: a heading, and a line of comma-separated values for each row.
 * @param rows with no two of the same prefix and time
 */
export function documentOf(rows: readonly PriceRow[]): string {
  const carriers = carriersWithCosts(rows);
  const lines = rows
    .toSorted(inOrder)
    .map(({ prefix, country, priceMicros, validFrom, costMicros }) =>
      [prefix, country, priceMicros, validFrom, ...carriers.map((carrier) => costMicros[carrier])].join(","),
    );
  return [[...columns, ...carriers].join(","), ...lines].join("\n");
}

/**
 * Prices by the prefix of numbers. The longest match applies. A card can have a hundred thousand rows, so it finds lines by their
 * prefix, and parses a line only when it needs it.
 */
export class RateCard {
  readonly #carriers: readonly string[];
  /** The lines of each prefix, in the order of their times. */
  readonly #lines = new Map<string, string>();
  readonly #longestPrefix: number;
  #rows: readonly PriceRow[] | undefined;

  /** @param document a result of `documentOf` */
  constructor(document: string) {
    const [heading = "", ...lines] = document.split("\n");
    this.#carriers = heading.split(",").slice(columns.length);
    let longestPrefix = 0;
    for (const line of lines) {
      const prefix = line.slice(0, line.indexOf(","));
      const before = this.#lines.get(prefix);
      this.#lines.set(prefix, before === undefined ? line : `${before}\n${line}`);
      longestPrefix = Math.max(longestPrefix, prefix.length);
    }
    this.#longestPrefix = longestPrefix;
  }

  /** Returns the row that applies to a number at a moment. It ignores rows that are not valid yet. */
  rowFor(number: string, at: Date): PriceRow | undefined {
    for (let length = Math.min(this.#longestPrefix, number.length); length >= 0; length -= 1) {
      const lines = this.#lines.get(number.slice(0, length));
      const row = lines === undefined ? undefined : rowAt(this.#rowsOf(lines), at);
      if (row !== undefined) return row;
    }
    return undefined;
  }

  /** Returns the moments after `at`, in ISO 8601, from which another row may apply to a number. */
  changesFor(number: string, at: Date): string[] {
    const after = at.toISOString();
    const lengths = Array.from(
      { length: Math.min(this.#longestPrefix, number.length) + 1 },
      (_, index) => index,
    );
    const lines = lengths.flatMap((length) => this.#lines.get(number.slice(0, length)) ?? []);
    return lines
      .flatMap((each) => this.#rowsOf(each))
      .flatMap(({ validFrom = "" }) => (validFrom > after ? [validFrom] : []));
  }

  /** Returns the prefixes of all rows, each once. */
  prefixes(): string[] {
    return [...this.#lines.keys()].filter((prefix) => this.#lines.get(prefix) !== "");
  }

  /** Returns all rows, in order. */
  rows(): readonly PriceRow[] {
    this.#rows ??= [...this.#lines.values()].flatMap((lines) => this.#rowsOf(lines));
    return this.#rows;
  }

  /** Returns the valid rows at a moment: one of each prefix, in order. */
  rowsAt(at: Date): PriceRow[] {
    return [...Map.groupBy(this.rows(), ({ prefix }) => prefix).values()].flatMap(
      (rows) => rowAt(rows, at) ?? [],
    );
  }

  #rowsOf(lines: string): PriceRow[] {
    return lines.split("\n").map((line) => {
      const [prefix = "", country = "", price, validFrom = "", ...costs] = line.split(",");
      const known = this.#carriers.flatMap((carrier, index) => {
        const cost = costs[index] ?? "";
        return cost === "" ? [] : [[carrier, Number(cost)] as const];
      });
      return {
        prefix,
        ...(country === "" ? {} : { country }),
        priceMicros: Number(price),
        ...(validFrom === "" ? {} : { validFrom }),
        costMicros: Object.fromEntries(known),
      };
    });
  }
}

/** Returns the valid row at a moment. @param rows the rows of one prefix, in order */
function rowAt(rows: readonly PriceRow[], at: Date): PriceRow | undefined {
  const moment = at.toISOString();
  return rows.findLast(({ validFrom = "" }) => validFrom <= moment);
}
