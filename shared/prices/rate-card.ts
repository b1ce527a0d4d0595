/** What a segment to some destinations costs, from a moment on. */
export interface PriceRow {
  /** What the numbers begin with, in international digits; empty for all that no other row is for. */
  readonly prefix: string;
  /** As an ISO 3166-1 code, or XK; absent where it is one of several, or none. */
  readonly country?: string | undefined;
  /** What the customer pays. */
  readonly priceMicros: number;
  /** ISO 8601; absent where it has always counted. */
  readonly validFrom?: string | undefined;
  /** What each carrier takes, by its name. What a carrier takes is not known where it is not here. */
  readonly costMicros: Readonly<Record<string, number>>;
}

/** The columns of a document that come before the carriers'. */
const columns = ["prefix", "country", "priceMicros", "validFrom"] as const;

/** In text order, which has all rows of a prefix together, in the order of their times. */
function inOrder(one: PriceRow, other: PriceRow): number {
  if (one.prefix !== other.prefix) return one.prefix < other.prefix ? -1 : 1;
  return (one.validFrom ?? "") < (other.validFrom ?? "") ? -1 : 1;
}

/** The carriers that have costs in rows, by name. */
export function carriersWithCosts(rows: readonly PriceRow[]): string[] {
  return [...new Set(rows.flatMap(({ costMicros }) => Object.keys(costMicros)))].toSorted();
}

/**
 * Rows as the text that is kept of them: a heading, and a line for each row, its values between commas.
 * @param rows none of them with the prefix and the time of another
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
 * Prices by what numbers begin with, of which the longest match counts. A card has a hundred thousand rows where it has
 * to: its lines are found by their prefix, and a line is read when it is asked for.
 */
export class RateCard {
  readonly #carriers: readonly string[];
  /** The lines of each prefix, in the order of their times. */
  readonly #lines = new Map<string, string>();
  readonly #longestPrefix: number;
  #rows: readonly PriceRow[] | undefined;

  /** @param document what `documentOf` makes */
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

  /** The row that counts for a number at a moment. A prefix whose time has not come leaves it to a shorter one. */
  rowFor(number: string, at: Date): PriceRow | undefined {
    for (let length = Math.min(this.#longestPrefix, number.length); length >= 0; length -= 1) {
      const lines = this.#lines.get(number.slice(0, length));
      const row = lines === undefined ? undefined : rowAt(this.#rowsOf(lines), at);
      if (row !== undefined) return row;
    }
    return undefined;
  }

  /** The moments behind one, in ISO 8601, at which another row may come to count for a number. */
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

  /** What there are rows for, each once. */
  prefixes(): string[] {
    return [...this.#lines.keys()].filter((prefix) => this.#lines.get(prefix) !== "");
  }

  /** All rows, in order. */
  rows(): readonly PriceRow[] {
    this.#rows ??= [...this.#lines.values()].flatMap((lines) => this.#rowsOf(lines));
    return this.#rows;
  }

  /** The rows that count at a moment: one of each prefix, in order. */
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

/** Of the rows of one prefix, in order, the one that counts. */
function rowAt(rows: readonly PriceRow[], at: Date): PriceRow | undefined {
  const moment = at.toISOString();
  return rows.findLast(({ validFrom = "" }) => validFrom <= moment);
}
