import { Batches } from "./batches.ts";
import { Catalog } from "./catalog.ts";
import type { Database } from "./database.ts";
import { ItemOperations } from "./items.ts";
import { Reads } from "./reads.ts";
import { CreateTable, OfTable, readInput, unknownOperation, UpdateTable } from "./requests.ts";
import { Rows } from "./rows.ts";
import { Transactions } from "./transactions.ts";

/** Items that expired more than five years ago are kept, as in DynamoDB. */
const maxExpiredSeconds = 5 * 365 * 24 * 60 * 60;

/** DynamoDB's tables, in a database shared with the queues. */
export class Tables {
  readonly #operations: ReadonlyMap<string, (input: object) => object>;
  readonly #catalog: Catalog;
  readonly #rows: Rows;

  /** @param now in milliseconds since the epoch */
  constructor(database: Database, now: () => number = Date.now) {
    const rows = new Rows(database);
    const catalog = new Catalog(database, rows, now);
    const items = new ItemOperations(catalog, rows);
    const reads = new Reads(catalog, rows);
    const batches = new Batches(catalog, rows);
    const transactions = new Transactions(database, catalog, rows, now);
    this.#rows = rows;
    this.#catalog = catalog;
    this.#operations = new Map<string, (input: object) => object>([
      ["BatchGetItem", (input) => batches.get(input)],
      ["BatchWriteItem", (input) => batches.write(input)],
      ["CreateTable", (input) => catalog.create(readInput(CreateTable, input))],
      ["DeleteItem", (input) => items.delete(input)],
      ["DescribeTable", (input) => catalog.describe(readInput(OfTable, input))],
      ["DescribeTimeToLive", (input) => catalog.describeTimeToLive(readInput(OfTable, input))],
      ["GetItem", (input) => items.get(input)],
      ["ListTables", (input) => catalog.list(input)],
      ["PutItem", (input) => items.put(input)],
      ["Query", (input) => reads.query(input)],
      ["Scan", (input) => reads.scan(input)],
      ["TransactWriteItems", (input) => transactions.write(input)],
      ["UpdateItem", (input) => items.update(input)],
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
    for (const table of this.#catalog.tables) {
      if (table.stored.timeToLive === undefined) continue;
      removed += this.#rows.removeExpired(table, {
        after: nowSeconds - maxExpiredSeconds,
        before: nowSeconds,
        limit: limit - removed,
      });
    }
    return removed;
  }
}
