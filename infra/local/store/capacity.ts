import type { WriteResult } from "./rows.ts";
import type { Table } from "./table-definitions.ts";

const readUnitBytes = 4_096;
const writeUnitBytes = 1_024;

/** A transaction reads or writes everything twice, except the entries of indexes. */
const transactionFactor = 2;

/** Whether a response returns the consumed capacity, as the sum for each table. */
export type CapacityDetail = "NONE" | "TOTAL";

/** Counts the capacity units of a request, by table. */
export class CapacityMeter {
  readonly #kind: "read" | "write";
  readonly #isTransaction: boolean;
  readonly #units = new Map<string, number>();

  constructor(kind: "read" | "write", { isTransaction = false } = {}) {
    this.#kind = kind;
    this.#isTransaction = isTransaction;
  }

  /** Counts a read; one that is not consistent costs half. */
  read(table: Table, bytes: number, { isConsistent = false } = {}): void {
    const factor = this.#isTransaction ? transactionFactor : isConsistent ? 1 : 1 / 2;
    this.#count(table, Math.max(1, Math.ceil(bytes / readUnitBytes)) * factor);
  }

  /** Counts a write: the larger of the old and the new item, and the index entries that change. */
  write(table: Table, { oldSize, newSize, indexUnits }: WriteResult): void {
    const units = Math.max(1, Math.ceil(Math.max(oldSize, newSize) / writeUnitBytes));
    this.#count(table, units * (this.#isTransaction ? transactionFactor : 1) + indexUnits);
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

  /** Transactions also return the kind of their units. */
  #consumed(detail: CapacityDetail | undefined): object[] {
    if (detail !== "TOTAL") return [];
    const kind = this.#kind === "read" ? "ReadCapacityUnits" : "WriteCapacityUnits";
    return [...this.#units].map(([TableName, units]) => ({
      TableName,
      CapacityUnits: units,
      ...(this.#isTransaction ? { [kind]: units } : {}),
    }));
  }

  #count({ name }: Table, units: number): void {
    this.#units.set(name, (this.#units.get(name) ?? 0) + units);
  }
}
