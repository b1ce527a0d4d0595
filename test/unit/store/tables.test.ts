import { beforeEach, expect, it } from "vitest";

import type { Tables } from "../../../infra/local/store/tables.ts";
import { definition, key, newStore, rejectionOf, TableName, type Execute } from "./own-store.ts";

let tables: Tables;
let execute: Execute;
beforeEach(() => {
  ({ tables, execute } = newStore());
});

const plain = {
  TableName: "plain",
  KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
  AttributeDefinitions: [{ AttributeName: "id", AttributeType: "N" }],
  BillingMode: "PAY_PER_REQUEST",
};

it("a table has the key that its definition names, and items under it", () => {
  tables.execute("CreateTable", plain);
  const Item = { id: { N: "1" }, name: { S: "one" } };
  tables.execute("PutItem", { TableName: "plain", Item });
  expect(tables.execute("GetItem", { TableName: "plain", Key: { id: { N: "1.0" } } })).toEqual({ Item });
});

it("unsupported operations and parameters are rejected, never ignored", () => {
  tables.execute("CreateTable", plain);
  const input = { TableName: "plain", Key: { id: { N: "1" } } };
  expect(() => tables.execute("ExecuteStatement", {})).toThrow("does not support ExecuteStatement");
  expect(() => tables.execute("GetItem", { ...input, AttributesToGet: ["id"] })).toThrow("AttributesToGet");
  expect(() => tables.execute("CreateTable", { ...plain, StreamSpecification: {} })).toThrow(
    "StreamSpecification",
  );
});

it("tables are described and listed", () => {
  tables.execute("CreateTable", plain);
  tables.execute("PutItem", { TableName: "plain", Item: { id: { N: "1" } } });
  expect(tables.execute("ListTables", {})).toEqual({ TableNames: ["plain", TableName] });
  expect(tables.execute("DescribeTable", { TableName: "plain" })).toMatchObject({
    Table: {
      TableName: "plain",
      TableStatus: "ACTIVE",
      KeySchema: plain.KeySchema,
      AttributeDefinitions: plain.AttributeDefinitions,
      BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
      ItemCount: 1,
      TableSizeBytes: 4,
    },
  });
});

it("items of one table are not seen in another one", () => {
  tables.execute("CreateTable", { ...definition, TableName: "others" });
  execute("PutItem", { Item: key() });
  expect(execute("GetItem", { TableName: "others", Key: key() })).toEqual({});
  expect(execute("Scan", { TableName: "others" }).Count).toBe(0);
});

it("an index that is added has the items that are there", () => {
  execute("PutItem", { Item: { ...key("1"), state: { S: "open" }, text: { S: "one" } } });
  execute("PutItem", { Item: { ...key("2"), text: { S: "two" } } });
  execute("PutItem", { Item: { ...key("3"), state: { N: "3" } } });
  const Create = {
    IndexName: "byState",
    KeySchema: [{ AttributeName: "state", KeyType: "HASH" }],
    Projection: { ProjectionType: "ALL" },
  };
  const update = (change: object): unknown =>
    execute("UpdateTable", {
      AttributeDefinitions: [{ AttributeName: "state", AttributeType: "S" }],
      GlobalSecondaryIndexUpdates: [change],
    });
  update({ Create });
  const open = {
    IndexName: "byState",
    KeyConditionExpression: "#state = :open",
    ExpressionAttributeNames: { "#state": "state" },
    ExpressionAttributeValues: { ":open": { S: "open" } },
  };
  expect(execute("Query", open).Items).toEqual([{ ...key("1"), state: { S: "open" }, text: { S: "one" } }]);
  execute("PutItem", { Item: { ...key("4"), state: { S: "open" } } });
  expect(execute("Query", open).Count).toBe(2);
  // The older index has its entries as before.
  execute("PutItem", { Item: { ...key("4"), group: { S: "g" }, rank: { N: "1" } } });
  expect(execute("Query", open).Count).toBe(1);
  expect(execute("Scan", { IndexName: "byGroup" }).Count).toBe(1);
  expect(rejectionOf(() => update({ Create })).message).toContain("already exists");
});

it.each([
  [{ KeySchema: [{ AttributeName: "id", KeyType: "RANGE" }] }, "HASH"],
  [{ KeySchema: [{ AttributeName: "other", KeyType: "HASH" }] }, "not defined in AttributeDefinitions"],
  [{ BillingMode: "PROVISIONED" }, "BillingMode"],
  [{ LocalSecondaryIndexes: [] }, "LocalSecondaryIndexes"],
  [{ TableName: "a" }, "TableName"],
  [
    {
      AttributeDefinitions: [
        { AttributeName: "id", AttributeType: "N" },
        { AttributeName: "spare", AttributeType: "S" },
      ],
    },
    "does not exactly match",
  ],
])("a table with %j is rejected", (change, words) => {
  expect(rejectionOf(() => tables.execute("CreateTable", { ...plain, ...change }))).toMatchObject({
    type: "ValidationException",
    message: expect.stringContaining(words),
  });
  expect(tables.execute("ListTables", {})).toEqual({ TableNames: [TableName] });
});

const nowSeconds = 1_800_000_000;

it("items are removed after their time, a few at a time, and with their entries", () => {
  const timeToLive = (Enabled: boolean, AttributeName = "expiresAt"): unknown =>
    execute("UpdateTimeToLive", { TimeToLiveSpecification: { Enabled, AttributeName } });
  const expiring = (sk: string, expiresAt: unknown): unknown =>
    execute("PutItem", { Item: { ...key(sk), group: { S: "g" }, rank: { N: "1" }, expiresAt } });
  // Before and after it is enabled.
  expiring("past", { N: String(nowSeconds - 1) });
  timeToLive(true);
  expiring("also past", { N: String(nowSeconds - 2) });
  expiring("now", { N: String(nowSeconds) });
  expiring("text", { S: String(nowSeconds - 1) });
  expiring("long ago", { N: String(nowSeconds - 6 * 365 * 86_400) });
  expect(tables.removeExpired(nowSeconds, 1)).toBe(1);
  expect(tables.removeExpired(nowSeconds, 10)).toBe(1);
  expect(tables.removeExpired(nowSeconds, 10)).toBe(0);
  expect(execute("Scan", { IndexName: "byGroup" }).Count).toBe(3);
  expect(tables.removeExpired(nowSeconds + 1, 10)).toBe(1);

  expect(rejectionOf(() => timeToLive(true)).message).toBe("TimeToLive is already enabled");
  expect(rejectionOf(() => timeToLive(false, "other")).message).toContain("different AttributeName");
  timeToLive(false);
  expiring("past", { N: String(nowSeconds - 1) });
  expect(tables.removeExpired(nowSeconds, 10)).toBe(0);
  expect(execute("DescribeTimeToLive")).toEqual({ TimeToLiveDescription: { TimeToLiveStatus: "DISABLED" } });
});
