import { beforeEach, expect, it } from "vitest";

import { key, newStore, TableName, type Execute } from "./own-store.ts";

let execute: Execute;
beforeEach(() => {
  ({ execute } = newStore());
});

const text = (bytes: number): { S: string } => ({ S: "x".repeat(bytes) });
const inIndex = { group: { S: "g" }, rank: { N: "1" } };

function unitsOf(operation: string, input: object): unknown {
  return execute(operation, { ...input, ReturnConsumedCapacity: "TOTAL" }).ConsumedCapacity;
}

it("a write costs a unit for each KB of the larger of old and new", () => {
  const table = (CapacityUnits: number): object => ({ TableName, CapacityUnits });
  expect(unitsOf("PutItem", { Item: { ...key(), a: text(100) } })).toEqual(table(1));
  expect(unitsOf("PutItem", { Item: { ...key(), a: text(2_500) } })).toEqual(table(3));
  expect(unitsOf("PutItem", { Item: key() })).toEqual(table(3));
  expect(unitsOf("UpdateItem", { Key: key(), UpdateExpression: "REMOVE a" })).toEqual(table(1));
  expect(unitsOf("DeleteItem", { Key: key() })).toEqual(table(1));
  expect(unitsOf("DeleteItem", { Key: key() })).toEqual(table(1));
});

it("a write costs units of an index for each changed entry", () => {
  const units = (table: number, index: number): object => ({ TableName, CapacityUnits: table + index });
  expect(unitsOf("PutItem", { Item: { ...key(), group: { S: "g" } } })).toEqual(units(1, 0));
  expect(unitsOf("PutItem", { Item: { ...key(), ...inIndex } })).toEqual(units(1, 1));
  expect(unitsOf("PutItem", { Item: { ...key(), ...inIndex, a: text(10) } })).toEqual(units(1, 0));
  const move = {
    Key: key(),
    UpdateExpression: "ADD #rank :one",
    ExpressionAttributeNames: { "#rank": "rank" },
    ExpressionAttributeValues: { ":one": { N: "1" } },
  };
  expect(unitsOf("UpdateItem", move)).toEqual(units(1, 2));
  expect(unitsOf("DeleteItem", { Key: key() })).toEqual(units(1, 1));
});

it("a read costs a unit for 4 KB, and half of it without consistency", () => {
  execute("PutItem", { Item: { ...key(), a: text(5_000), ...inIndex } });
  expect(unitsOf("GetItem", { Key: key(), ConsistentRead: true })).toEqual({ TableName, CapacityUnits: 2 });
  expect(unitsOf("GetItem", { Key: key() })).toEqual({ TableName, CapacityUnits: 1 });
  expect(unitsOf("GetItem", { Key: key("none") })).toEqual({ TableName, CapacityUnits: 0.5 });
  expect(unitsOf("Scan", {})).toEqual({ TableName, CapacityUnits: 1 });
  expect(unitsOf("Scan", { IndexName: "byGroup" })).toEqual({ TableName, CapacityUnits: 0.5 });
  expect(
    unitsOf("BatchGetItem", {
      TableName: undefined,
      RequestItems: { [TableName]: { Keys: [key(), key("none")] } },
    }),
  ).toEqual([{ TableName, CapacityUnits: 1.5 }]);
});

it("a transaction reads and writes twice, except the entries of indexes", () => {
  const TransactItems = [
    { Put: { TableName, Item: { ...key(), ...inIndex } } },
    {
      ConditionCheck: { TableName, Key: key("none"), ConditionExpression: "attribute_not_exists(pk)" },
    },
  ];
  const write = { TableName: undefined, TransactItems, ClientRequestToken: "token" };
  const each = (units: number): object => ({ CapacityUnits: units, WriteCapacityUnits: units });
  expect(unitsOf("TransactWriteItems", write)).toEqual([{ TableName, ...each(5) }]);
  // A repeat reads what it does not write again.
  expect(unitsOf("TransactWriteItems", write)).toEqual([
    { TableName, CapacityUnits: 4, ReadCapacityUnits: 4 },
  ]);
});
