import { expect } from "vitest";

import type { Item } from "../../../infra/local/store/attribute-values.ts";
import { Database } from "../../../infra/local/store/database.ts";
import { ServiceError } from "../../../infra/local/store/service-error.ts";
import { Tables } from "../../../infra/local/store/tables.ts";

/** The fields of responses that tests read. */
export interface Answer {
  readonly Attributes?: Item;
  readonly ConsumedCapacity?: unknown;
  readonly Count?: number;
  readonly Item?: Item;
  readonly Items?: readonly Item[];
  readonly LastEvaluatedKey?: Item;
  readonly Responses?: Readonly<Record<string, readonly Item[]>>;
  readonly ScannedCount?: number;
  readonly Table?: { readonly ItemCount: number; readonly TableSizeBytes: number };
  readonly TableNames?: readonly string[];
  readonly UnprocessedKeys?: Readonly<Record<string, { readonly Keys: readonly Item[] }>>;
}

export type Execute = (operation: string, input?: object) => Answer;

export const TableName = "things";

/** A table with two key attributes and one index, whose entries have the keys alone. */
export const definition = {
  TableName,
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "sk", AttributeType: "S" },
    { AttributeName: "group", AttributeType: "S" },
    { AttributeName: "rank", AttributeType: "N" },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: "byGroup",
      KeySchema: [
        { AttributeName: "group", KeyType: "HASH" },
        { AttributeName: "rank", KeyType: "RANGE" },
      ],
      Projection: { ProjectionType: "KEYS_ONLY" },
    },
  ],
  BillingMode: "PAY_PER_REQUEST",
};

/** A store with that table, in memory. */
export function newStore(
  database = new Database(undefined),
  now: () => number = Date.now,
): { readonly tables: Tables; readonly execute: Execute; readonly put: (item: object) => void } {
  const tables = new Tables(database, now);
  // As it comes over the wire: a TableName that is undefined is left out.
  const execute: Execute = (operation, input = {}) =>
    tables.execute(operation, JSON.parse(JSON.stringify({ TableName, ...input })));
  tables.execute("CreateTable", definition);
  return {
    tables,
    execute,
    put: (item) => void execute("PutItem", { Item: { ...key(), ...item } }),
  };
}

export function key(sk = "1", pk = "a"): { pk: { S: string }; sk: { S: string } } {
  return { pk: { S: pk }, sk: { S: sk } };
}

/** Returns the error of a rejected request. */
export function rejectionOf(ask: () => unknown): ServiceError {
  try {
    ask();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  return expect.unreachable("the request was not rejected");
}
