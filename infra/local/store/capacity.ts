import type { WriteResult } from "./rows.ts";
import type { Table } from "./table-definitions.ts";

const readUnitBytes = 4_096;
const writeUnitBytes = 1_024;

/** In a transaction everything but the entries of indexes is read, or written, twice. */
const transactionFactor = 2;

/** How an answer says what it took: not at all, as a sum, or by table and index too. */
export type CapacityDetail = "INDEXES" | "NONE" | "TOTAL";

interface Units {
  table: number;
  readonly indexes: Map<string, number>;
}

/** Counts the capacity units that a request takes, by table. */
export class CapacityMeter {
  readonly #kind: "read" | "write";
  readonly #isTransaction: boolean;
  readonly #tables = new Map<string, Units>();

  constructor(kind: "read" | "write", { isTransaction = false } = {}) {
    this.#kind = kind;
    this.#isTransaction = isTransaction;
  }

  /** Counts what is read in one go: half as much as it is where it need not be consistent. */
  read(table: Table, bytes: number, { isConsistent = false, index = "" } = {}): void {
    const units = Math.max(1, Math.ceil(bytes / readUnitBytes));
    const factor = this.#isTransaction ? transactionFactor : isConsistent ? 1 : 1 / 2;
    const counted = this.#of(table);
    if (index === "") counted.table += units * factor;
    else count(counted.indexes, index, units * factor);
  }

  /** Counts a write: the larger of the old and the new item, and the changed entries of indexes. */
  write(table: Table, { oldSize, newSize, indexUnits }: WriteResult): void {
    const counted = this.#of(table);
    const units = Math.max(1, Math.ceil(Math.max(oldSize, newSize) / writeUnitBytes));
    counted.table += units * (this.#isTransaction ? transactionFactor : 1);
    for (const [index, each] of indexUnits) count(counted.indexes, index, each);
  }

  /** The field of an answer about one table. */
  consumed(detail: CapacityDetail | undefined): { ConsumedCapacity?: object } {
    const [first] = this.#answers(detail);
    return first === undefined ? {} : { ConsumedCapacity: first };
  }

  /** The field of an answer about any number of tables. */
  consumedByTable(detail: CapacityDetail | undefined): { ConsumedCapacity?: object[] } {
    const answers = this.#answers(detail);
    return answers.length === 0 ? {} : { ConsumedCapacity: answers };
  }

  #answers(detail: CapacityDetail | undefined): object[] {
    if (detail === undefined || detail === "NONE") return [];
    return [...this.#tables].map(([name, { table, indexes }]) => {
      const total = [...indexes.values()].reduce((sum, units) => sum + units, table);
      return {
        TableName: name,
        ...this.#units(total),
        ...(detail === "TOTAL"
          ? {}
          : {
              Table: this.#units(table),
              ...(indexes.size === 0
                ? {}
                : {
                    GlobalSecondaryIndexes: Object.fromEntries(
                      [...indexes].map(([index, units]) => [index, this.#units(units)]),
                    ),
                  }),
            }),
      };
    });
  }

  /** Transactions say of which kind their units are. */
  #units(units: number): object {
    if (!this.#isTransaction) return { CapacityUnits: units };
    return this.#kind === "read"
      ? { CapacityUnits: units, ReadCapacityUnits: units }
      : { CapacityUnits: units, WriteCapacityUnits: units };
  }

  #of({ name }: Table): Units {
    const known = this.#tables.get(name);
    if (known !== undefined) return known;
    const units: Units = { table: 0, indexes: new Map() };
    this.#tables.set(name, units);
    return units;
  }
}

function count(indexes: Map<string, number>, index: string, units: number): void {
  indexes.set(index, (indexes.get(index) ?? 0) + units);
}
