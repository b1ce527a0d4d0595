import type { WriteResult } from "./rows.ts";
import type { Table } from "./table-definitions.ts";

const readUnitBytes = 4_096;
const writeUnitBytes = 1_024;

/** A transaction reads or writes everything twice, except the entries of indexes. */
const transactionFactor = 2;

/** Which consumed capacity a response returns: none, the sum, or also that of each table and index. */
export type CapacityDetail = "INDEXES" | "NONE" | "TOTAL";

interface Units {
  table: number;
  readonly indexes: Map<string, number>;
}

/** Counts the capacity units of a request, by table. */
export class CapacityMeter {
  readonly #kind: "read" | "write";
  readonly #isTransaction: boolean;
  readonly #tables = new Map<string, Units>();

  constructor(kind: "read" | "write", { isTransaction = false } = {}) {
    this.#kind = kind;
    this.#isTransaction = isTransaction;
  }

  /** Counts a read; one that is not consistent costs half. */
  read(table: Table, bytes: number, { isConsistent = false, index = "" } = {}): void {
    const units = Math.max(1, Math.ceil(bytes / readUnitBytes));
    const factor = this.#isTransaction ? transactionFactor : isConsistent ? 1 : 1 / 2;
    const counted = this.#of(table);
    if (index === "") counted.table += units * factor;
    else count(counted.indexes, index, units * factor);
  }

  /** Counts a write: the larger of the old and the new item, and the index entries that change. */
  write(table: Table, { oldSize, newSize, indexUnits }: WriteResult): void {
    const counted = this.#of(table);
    const units = Math.max(1, Math.ceil(Math.max(oldSize, newSize) / writeUnitBytes));
    counted.table += units * (this.#isTransaction ? transactionFactor : 1);
    for (const [index, each] of indexUnits) count(counted.indexes, index, each);
  }

  /** Returns the response's field for one table. */
  consumed(detail: CapacityDetail | undefined): { ConsumedCapacity?: object } {
    const [first] = this.#consumed(detail);
    return first === undefined ? {} : { ConsumedCapacity: first };
  }

  /** Returns the response's field for any number of tables. */
  consumedByTable(detail: CapacityDetail | undefined): { ConsumedCapacity?: object[] } {
    const consumed = this.#consumed(detail);
    return consumed.length === 0 ? {} : { ConsumedCapacity: consumed };
  }

  #consumed(detail: CapacityDetail | undefined): object[] {
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

  /** Transactions also return the kind of their units. */
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
