import { beforeEach, expect, it } from "vitest";

import { definition, key, newStore, rejectionOf, TableName, type Execute } from "./own-store.ts";

let execute: Execute;
beforeEach(() => {
  ({ execute } = newStore());
});

it.each([
  [{ ...key(), sk: undefined }, "Missing the key sk in the item"],
  [{ ...key(), sk: { N: "1" } }, "Type mismatch for key sk expected: S actual: N"],
  [{ ...key(), sk: { S: "" } }, "cannot contain an empty string value. Key: sk"],
  [{ ...key("x".repeat(1_025)) }, "size limit of 1024 bytes"],
  [{ ...key("1", "é".repeat(1_025)) }, "size limit of 2048 bytes"],
  [
    { ...key(), group: { N: "1" } },
    "Type mismatch for Index Key group Expected: S Actual: N IndexName: byGroup",
  ],
  [
    { ...key(), group: { S: "" } },
    "cannot contain an empty string value. IndexName: byGroup, IndexKey: group",
  ],
  [{ ...key(), some: { N: "one" } }, "cannot be converted to a numeric value: one"],
  [{ ...key(), some: {} }, "Supplied AttributeValue is empty"],
  [{ ...key(), some: { S: "a", N: "1" } }, "has more than one datatypes set"],
  [{ ...key(), some: { SS: [] } }, "An string set  may not be empty"],
  [{ ...key(), some: { NS: ["1", "1.0"] } }, "contains duplicates"],
  [{ ...key(), some: { NULL: false } }, "Null attribute value types must have the value of true"],
  [{ ...key(), some: { X: "1" } }, "must contain exactly one of the supported datatypes"],
  [{ ...key(), some: { S: "x".repeat(409_600) } }, "Item size has exceeded the maximum allowed size"],
  [{ ...key(), some: nested(33) }, "Nesting Levels have exceeded supported limits"],
])("an invalid item is rejected (%#)", (Item, words) => {
  const item = JSON.parse(JSON.stringify(Item));
  expect(rejectionOf(() => execute("PutItem", { Item: item }))).toMatchObject({
    type: "ValidationException",
    message: expect.stringContaining(words),
  });
  expect(execute("Scan").Count).toBe(0);
});

function nested(depth: number): object {
  return depth === 0 ? { S: "" } : { L: [nested(depth - 1)] };
}

it("an item of 400 KB is stored, and an update that makes it larger is rejected", () => {
  // The names of its four attributes, two values of a byte each, and a counter.
  const size = 409_600 - "pksksomen".length - 2 - 2;
  execute("PutItem", { Item: { ...key(), some: { S: "x".repeat(size) }, n: { N: "1" } } });
  const update = {
    Key: key(),
    UpdateExpression: "SET n = :more",
    ExpressionAttributeValues: { ":more": { N: "123" } },
  };
  expect(rejectionOf(() => execute("UpdateItem", update)).message).toBe(
    "Item size to update has exceeded the maximum allowed size",
  );
});

it("an update cannot give the key of an index another type", () => {
  const update = {
    Key: key(),
    UpdateExpression: "SET #group = :group",
    ExpressionAttributeNames: { "#group": "group" },
    ExpressionAttributeValues: { ":group": { N: "1" } },
  };
  expect(rejectionOf(() => execute("UpdateItem", update)).message).toContain(
    "Type mismatch for Index Key group",
  );
});

it.each([[{ pk: { S: "a" } }], [{ ...key(), more: { S: "a" } }], [{ ...key(), sk: { N: "1" } }]])(
  "%j is no key of the table",
  (Key) => {
    for (const operation of ["GetItem", "DeleteItem", "UpdateItem"]) {
      expect(rejectionOf(() => execute(operation, { Key })).message).toBe(
        "The provided key element does not match the schema",
      );
    }
  },
);

it("an update of what is not there makes an item with its key", () => {
  const ReturnValues = "ALL_NEW";
  expect(execute("UpdateItem", { Key: key(), UpdateExpression: "REMOVE a", ReturnValues })).toEqual({
    Attributes: key(),
  });
  expect(execute("UpdateItem", { Key: key("2"), ReturnValues })).toEqual({ Attributes: key("2") });
});

it("an update returns the requested values", () => {
  execute("PutItem", { Item: { ...key(), n: { N: "1" }, other: { S: "o" } } });
  const update = (ReturnValues: string): unknown =>
    execute("UpdateItem", {
      Key: key(),
      UpdateExpression: "SET fresh = :one ADD n :one",
      ExpressionAttributeValues: { ":one": { N: "1" } },
      ReturnValues,
    });
  const before = { ...key(), n: { N: "1" }, other: { S: "o" } };
  expect(update("ALL_OLD")).toEqual({ Attributes: before });
  expect(update("UPDATED_OLD")).toEqual({ Attributes: { n: { N: "2" }, fresh: { N: "1" } } });
  expect(update("UPDATED_NEW")).toEqual({ Attributes: { n: { N: "4" }, fresh: { N: "1" } } });
  expect(update("NONE")).toEqual({});
  expect(update("ALL_NEW")).toEqual({ Attributes: { ...before, n: { N: "6" }, fresh: { N: "1" } } });
});

it("a put and a delete return the item that was there, or nothing", () => {
  const Item = { ...key(), a: { S: "a" } };
  expect(execute("PutItem", { Item, ReturnValues: "ALL_OLD" })).toEqual({});
  expect(execute("PutItem", { Item: key(), ReturnValues: "ALL_OLD" })).toEqual({ Attributes: Item });
  expect(execute("DeleteItem", { Key: key(), ReturnValues: "ALL_OLD" })).toEqual({ Attributes: key() });
  expect(execute("DeleteItem", { Key: key(), ReturnValues: "ALL_OLD" })).toEqual({});
  expect(rejectionOf(() => execute("PutItem", { Item, ReturnValues: "ALL_NEW" })).message).toContain(
    "ReturnValues can only be ALL_OLD or NONE",
  );
});

it("a failed condition returns the stored item on request", () => {
  const Item = { ...key(), a: { S: "a" } };
  execute("PutItem", { Item });
  const write = { Item: key(), ConditionExpression: "attribute_not_exists(pk)" };
  expect(rejectionOf(() => execute("PutItem", write))).toMatchObject({
    type: "ConditionalCheckFailedException",
    message: "The conditional request failed",
    details: {},
  });
  const ReturnValuesOnConditionCheckFailure = "ALL_OLD";
  expect(
    rejectionOf(() => execute("PutItem", { ...write, ReturnValuesOnConditionCheckFailure })).details,
  ).toEqual({ Item });
  expect(execute("GetItem", { Key: key() })).toEqual({ Item });
});

it("a batch reads up to 100 items, and no key twice", () => {
  const keys = Array.from({ length: 101 }, (_, index) => key(String(index)));
  const get = (Keys: readonly object[]): unknown =>
    execute("BatchGetItem", { TableName: undefined, RequestItems: { [TableName]: { Keys } } });
  execute("PutItem", { Item: key("7") });
  expect(get(keys.slice(0, 100))).toEqual({ Responses: { [TableName]: [key("7")] }, UnprocessedKeys: {} });
  expect(rejectionOf(() => get(keys)).message).toContain("Too many items requested");
  expect(rejectionOf(() => get([key(), key()])).message).toBe(
    "Provided list of item keys contains duplicates",
  );
});

it("a batch returns 16 MB, and the remaining keys", () => {
  const keys = Array.from({ length: 50 }, (_, index) => key(String(index)));
  for (const each of keys) execute("PutItem", { Item: { ...each, text: { S: "x".repeat(390_000) } } });
  const read: object[] = [];
  let Keys: readonly object[] = keys;
  while (Keys.length > 0) {
    const answer = execute("BatchGetItem", {
      TableName: undefined,
      RequestItems: { [TableName]: { Keys, ConsistentRead: true } },
    });
    const { Responses, UnprocessedKeys } = answer;
    expect(JSON.stringify(Responses).length).toBeLessThan(17 * 1_024 * 1_024);
    read.push(...(Responses?.[TableName] ?? []));
    Keys = UnprocessedKeys?.[TableName]?.Keys ?? [];
  }
  expect(read).toHaveLength(50);
});

it("a batch writes up to 25 items, and none twice", () => {
  const write = (writes: readonly object[]): unknown =>
    execute("BatchWriteItem", { TableName: undefined, RequestItems: { [TableName]: writes } });
  const puts = Array.from({ length: 26 }, (_, index) => ({ PutRequest: { Item: key(String(index)) } }));
  expect(rejectionOf(() => write(puts)).message).toContain("Too many items requested");
  expect(write(puts.slice(1))).toEqual({ UnprocessedItems: {} });
  expect(write([{ DeleteRequest: { Key: key("1") } }, { PutRequest: { Item: key("0") } }])).toEqual({
    UnprocessedItems: {},
  });
  expect(execute("Scan").Count).toBe(25);
  expect(rejectionOf(() => write([puts[0] ?? {}, { DeleteRequest: { Key: key("0") } }])).message).toBe(
    "Provided list of item keys contains duplicates",
  );
});

it("a table that is not there is named as such, by all operations", () => {
  for (const [operation, input] of [
    ["GetItem", { Key: key() }],
    ["PutItem", { Item: key() }],
    ["Scan", {}],
    ["DescribeTable", {}],
  ] as const) {
    expect(rejectionOf(() => execute(operation, { ...input, TableName: "nothing" }))).toMatchObject({
      type: "ResourceNotFoundException",
      message: "Requested resource not found",
    });
  }
  expect(rejectionOf(() => execute("CreateTable", definition)).type).toBe("ResourceInUseException");
});
