import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterEach, beforeEach, expect, it } from "vitest";

import { Database } from "../../../infra/local/store/database.ts";
import { Tables } from "../../../infra/local/store/tables.ts";
import { key, newStore, rejectionOf, TableName, type Execute } from "./own-store.ts";

let folder: string;
let nowMs = 0;
let execute: Execute;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "sms-gateway-"));
  nowMs = Date.parse("2026-01-01T00:00:00Z");
  ({ execute } = newStore(undefined, () => nowMs));
});
afterEach(async () => rm(folder, { recursive: true }));

const put = (sk: string, more: object = {}): object => ({ Put: { TableName, Item: key(sk), ...more } });
const absent = { ConditionExpression: "attribute_not_exists(pk)" };
const increment = (sk: string, n = "1"): object => ({
  Update: {
    TableName,
    Key: key(sk),
    UpdateExpression: "ADD n :n",
    ExpressionAttributeValues: { ":n": { N: n } },
  },
});

function transact(TransactItems: readonly object[], ClientRequestToken?: string): unknown {
  return execute("TransactWriteItems", { TableName: undefined, TransactItems, ClientRequestToken });
}

it("all is written or, where a condition fails, nothing, with the reasons in order", () => {
  const there = { ...key("there"), a: { S: "a" } };
  execute("PutItem", { Item: there });
  const check = { TableName, Key: key("there"), ConditionExpression: "attribute_exists(pk)" };
  const returned = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" };
  const rejection = rejectionOf(() =>
    transact([
      put("1"),
      put("there", { ...absent, ...returned }),
      { Delete: { TableName, Key: key("none"), ConditionExpression: "attribute_exists(pk)", ...returned } },
    ]),
  );
  const failed = { Code: "ConditionalCheckFailed", Message: "The conditional request failed" };
  expect(rejection).toMatchObject({
    type: "TransactionCanceledException",
    message:
      "Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed, ConditionalCheckFailed]",
    details: { CancellationReasons: [{ Code: "None" }, { ...failed, Item: there }, failed] },
  });
  expect(execute("Scan").Items).toEqual([there]);

  expect(
    transact([
      put("1", absent),
      { ConditionCheck: check },
      increment("2"),
      { Delete: { TableName, Key: key("3") } },
    ]),
  ).toEqual({});
  expect(execute("Scan").Count).toBe(3);
});

it("a write that does not fit its item cancels the transaction", () => {
  execute("PutItem", { Item: { ...key("1"), n: { S: "text" } } });
  expect(rejectionOf(() => transact([put("2"), increment("1")])).details).toEqual({
    CancellationReasons: [
      { Code: "None" },
      { Code: "ValidationError", Message: "An operand in the update expression has an incorrect data type" },
    ],
  });
  expect(execute("Scan").Count).toBe(1);
});

it("one item is in a transaction once, and a transaction has at most 100 items and 4 MB", () => {
  expect(rejectionOf(() => transact([put("1"), increment("1")])).message).toBe(
    "Transaction request cannot include multiple operations on one item",
  );
  expect(rejectionOf(() => transact([])).type).toBe("ValidationException");
  const puts = Array.from({ length: 101 }, (_, index) => put(String(index)));
  expect(rejectionOf(() => transact(puts)).message).toContain("TransactItems");
  expect(transact(puts.slice(1))).toEqual({});
  const large = Array.from({ length: 11 }, (_, index) => ({
    Put: { TableName, Item: { ...key(String(index)), text: { S: "x".repeat(400_000) } } },
  }));
  expect(rejectionOf(() => transact(large)).message).toContain("4 MB");
});

it("a token makes the same transaction one for ten minutes, and another one an error", () => {
  const counter = (): unknown => execute("GetItem", { Key: key("n") }).Item?.["n"];
  transact([increment("n")], "token");
  nowMs += 9 * 60_000;
  const reordered = {
    Update: Object.fromEntries(Object.entries(fieldsOf(increment("n"))).toReversed()),
  };
  expect(transact([reordered], "token")).toEqual({});
  expect(counter()).toEqual({ N: "1" });
  expect(rejectionOf(() => transact([increment("n", "2")], "token")).type).toBe(
    "IdempotentParameterMismatchException",
  );
  nowMs += 61_000;
  transact([increment("n")], "token");
  expect(counter()).toEqual({ N: "2" });
});

function fieldsOf(write: object): object {
  const [fields = {}]: object[] = Object.values(write);
  return fields;
}

it("the token of a transaction that was cancelled can be used again", () => {
  execute("PutItem", { Item: key("1") });
  expect(rejectionOf(() => transact([put("1", absent)], "token")).type).toBe("TransactionCanceledException");
  execute("DeleteItem", { Key: key("1") });
  transact([put("1", absent)], "token");
  expect(execute("Scan").Count).toBe(1);
});

it("tokens outlast a restart, and expired ones are deleted", () => {
  const file = path.join(folder, "store.sqlite");
  const first = new Database(file);
  newStore(first, () => nowMs);
  const TransactItems = [increment("n")];
  new Tables(first, () => nowMs).execute("TransactWriteItems", {
    TransactItems,
    ClientRequestToken: "token",
  });
  first.close();

  const second = new Database(file);
  const tables = new Tables(second, () => nowMs);
  tables.execute("TransactWriteItems", { TransactItems, ClientRequestToken: "token" });
  expect(tables.execute("GetItem", { TableName, Key: key("n") })).toMatchObject({ Item: { n: { N: "1" } } });
  nowMs += 11 * 60_000;
  tables.execute("TransactWriteItems", { TransactItems, ClientRequestToken: "another" });
  expect(second.sqlite.prepare("SELECT token FROM tokens").all()).toEqual([{ token: "another" }]);
  second.close();
});
