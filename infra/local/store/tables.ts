import { getBatch, writeBatch } from "./batches.ts";
import { Catalog, type ItemStore } from "./catalog.ts";
import type { Database } from "./database.ts";
import { deleteItem, getItem, putItem, updateItem } from "./items.ts";
import { query, scan } from "./reads.ts";
import { CreateTable, OfTable, readInput, unknownOperation, UpdateTable } from "./requests.ts";
import { Rows } from "./rows.ts";
import { Transactions } from "./transactions.ts";

/** Items that expired more than five years ago are kept, as in DynamoDB. */
const maxExpiredSeconds = 5 * 365 * 24 * 60 * 60;

/** DynamoDB's tables, in a database shared with the queues. */
export class Tables {
  readonly #operations: ReadonlyMap<string, (input: object) => object>;
  readonly #store: ItemStore;

  /** @param now in milliseconds since the epoch */
  constructor(database: Database, now: () => number = Date.now) {
    const rows = new Rows(database);
    const catalog = new Catalog(database, rows, now);
    const store = { catalog, rows };
    const transactions = new Transactions(database, store, now);
    this.#store = store;
    this.#operations = new Map<string, (input: object) => object>([
      ["BatchGetItem", (input) => getBatch(store, input)],
      ["BatchWriteItem", (input) => writeBatch(store, input)],
      ["CreateTable", (input) => catalog.create(readInput(CreateTable, input))],
      ["DeleteItem", (input) => deleteItem(store, input)],
      ["DescribeTable", (input) => catalog.describe(readInput(OfTable, input))],
      ["DescribeTimeToLive", (input) => catalog.describeTimeToLive(readInput(OfTable, input))],
      ["GetItem", (input) => getItem(store, input)],
      ["ListTables", (input) => catalog.list(input)],
      ["PutItem", (input) => putItem(store, input)],
      ["Query", (input) => query(store, input)],
      ["Scan", (input) => scan(store, input)],
      ["TransactWriteItems", (input) => transactions.write(input)],
      ["UpdateItem", (input) => updateItem(store, input)],
      ["UpdateTable", (input) => catalog.update(readInput(UpdateTable, input))],
      ["UpdateTimeToLive", (input) => catalog.updateTimeToLive(input)],
    ]);
  }

  /**
   * Executes one operation of DynamoDB. The response shares objects with the store, so do not change it. Nothing of it
   * may leave the machine before `database.whenKept` has called back.
   * @param input the parsed JSON of the request; the store keeps parts of it
   * @returns the response, to be sent as JSON
   * @throws ServiceError for a request that DynamoDB rejects
   */
  execute(operation: string, input: object): object {
    const execute = this.#operations.get(operation);
    if (execute === undefined) throw unknownOperation(operation);
    return execute(input);
  }

  /**
   * Removes expired items. DynamoDB does so in the background, at some time.
   * @param limit the most items over all tables
   * @returns the number of removed items
   */
  removeExpired(nowSeconds: number, limit: number): number {
    let removed = 0;
    for (const table of this.#store.catalog.tables) {
      if (table.stored.timeToLive === undefined) continue;
      removed += this.#store.rows.removeExpired(table, {
        after: nowSeconds - maxExpiredSeconds,
        before: nowSeconds,
        limit: limit - removed,
      });
    }
    return removed;
  }
}
