import { beforeEach, expect, it } from "vitest";

import { Database } from "../../../infra/local/store/database.ts";
import { Tables } from "../../../infra/local/store/tables.ts";

let tables: Tables;
beforeEach(() => {
  tables = new Tables(new Database(undefined));
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

it("what is not offered is refused, and never ignored", () => {
  tables.execute("CreateTable", plain);
  const input = { TableName: "plain", Key: { id: { N: "1" } } };
  expect(() => tables.execute("ExecuteStatement", {})).toThrow("does not offer ExecuteStatement");
  expect(() => tables.execute("GetItem", { ...input, AttributesToGet: ["id"] })).toThrow("AttributesToGet");
  expect(() => tables.execute("CreateTable", { ...plain, StreamSpecification: {} })).toThrow(
    "StreamSpecification",
  );
});
