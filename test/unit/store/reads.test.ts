import { beforeEach, expect, it } from "vitest";

import type { Item } from "../../../infra/local/store/attribute-values.ts";
import { key, newStore, rejectionOf, type Answer, type Execute } from "./own-store.ts";

let execute: Execute;
let put: (item: object) => void;
beforeEach(() => {
  ({ execute, put } = newStore());
});

function query(condition: string, values: object, options: object = {}): Answer {
  return execute("Query", {
    KeyConditionExpression: condition,
    ExpressionAttributeValues: { ":pk": { S: "a" }, ...values },
    ...options,
  });
}

function sortKeys({ Items = [] }: Answer): string[] {
  return Items.map(({ sk }) => (sk !== undefined && "S" in sk ? sk.S : ""));
}

/** All items, page by page. */
function allPages(operation: string, input: object): { items: Item[]; pages: number } {
  const items: Item[] = [];
  let ExclusiveStartKey: Item | undefined;
  for (let pages = 1; ; pages += 1) {
    const answer = execute(operation, { ...input, ExclusiveStartKey });
    items.push(...(answer.Items ?? []));
    ExclusiveStartKey = answer.LastEvaluatedKey;
    if (ExclusiveStartKey === undefined) return { items, pages };
  }
}

const inOrder = ["B", "a", "a\u0000", "ab", "b", "é", "\ufffd", "\u{1f600}", "\u{10ffff}"];

it("texts are in the order of their UTF-8 bytes", () => {
  for (const sk of inOrder.toReversed()) put(key(sk));
  expect(sortKeys(query("pk = :pk", {}))).toEqual(inOrder);
  expect(sortKeys(query("pk = :pk", {}, { ScanIndexForward: false }))).toEqual(inOrder.toReversed());
});

it.each([
  ["sk = :x", ["ab"]],
  ["sk < :x", ["B", "a", "a\u0000"]],
  ["sk <= :x", ["B", "a", "a\u0000", "ab"]],
  ["sk > :x", inOrder.slice(4)],
  [":x <= sk", inOrder.slice(3)],
  ["sk BETWEEN :a AND :x", ["a", "a\u0000", "ab"]],
  ["begins_with(sk, :a)", ["a", "a\u0000", "ab"]],
  ["begins_with(sk, :last)", ["\u{10ffff}"]],
])("%s finds %j", (condition, found) => {
  for (const sk of inOrder) put(key(sk));
  put(key("ab", "other"));
  const all = { ":x": { S: "ab" }, ":a": { S: "a" }, ":last": { S: "\u{10ffff}" } };
  const used = Object.fromEntries(Object.entries(all).filter(([name]) => condition.includes(name)));
  expect(sortKeys(query(`pk = :pk AND ${condition}`, used))).toEqual(found);
  expect(sortKeys(query(`(${condition}) AND pk = :pk`, used, { ScanIndexForward: false }))).toEqual(
    found.toReversed(),
  );
});

const ranks = [
  "-1E125",
  "-10",
  "-9.5",
  "-1E-130",
  "0",
  "0.1",
  "2",
  "10",
  "99999999999999999999999999999999999999",
];

it("numbers of a key are in the order of numbers, and an index has the items that have its key", () => {
  for (const [index, N] of ranks.toReversed().entries()) {
    put({ ...key(String(index)), group: { S: "g" }, rank: { N }, text: { S: "not in the index" } });
  }
  put({ ...key("no rank"), group: { S: "g" } });
  const input = {
    IndexName: "byGroup",
    KeyConditionExpression: "#group = :g",
    ExpressionAttributeNames: { "#group": "group" },
    ExpressionAttributeValues: { ":g": { S: "g" } },
  };
  const { Items = [] } = execute("Query", input);
  expect(Items.map(({ rank }) => rank !== undefined && "N" in rank && Number(rank.N))).toEqual(
    ranks.map(Number),
  );
  expect(Object.keys(Items[0] ?? {}).toSorted()).toEqual(["group", "pk", "rank", "sk"]);
  const some = execute("Query", {
    ...input,
    KeyConditionExpression: "#group = :g AND #rank BETWEEN :from AND :to",
    ExpressionAttributeNames: { "#group": "group", "#rank": "rank" },
    ExpressionAttributeValues: { ":g": { S: "g" }, ":from": { N: "-9.5" }, ":to": { N: "2.0" } },
  });
  expect(some.Count).toBe(5);
});

it("pages of an index continue after an entry, also among equal ones and after its deletion", () => {
  for (let index = 0; index < 9; index += 1) {
    put({ ...key(String(index % 3), String(index)), group: { S: "g" }, rank: { N: String(index % 2) } });
  }
  const input = {
    IndexName: "byGroup",
    KeyConditionExpression: "#group = :g",
    ExpressionAttributeNames: { "#group": "group" },
    ExpressionAttributeValues: { ":g": { S: "g" } },
  };
  const { Items: all } = execute("Query", input);
  for (const Limit of [1, 2, 4]) expect(allPages("Query", { ...input, Limit }).items).toEqual(all);
  const backwards = { ...input, Limit: 2, ScanIndexForward: false };
  expect(allPages("Query", backwards).items).toEqual(all?.toReversed());
  expect(allPages("Scan", { IndexName: "byGroup", Limit: 2 }).items).toEqual(all);

  const { LastEvaluatedKey } = execute("Query", { ...input, Limit: 4 });
  const { pk, sk } = LastEvaluatedKey ?? {};
  execute("DeleteItem", { Key: { pk, sk } });
  const rest = execute("Query", { ...input, ExclusiveStartKey: LastEvaluatedKey });
  expect(rest.Items).toEqual(all?.slice(4));
});

it("a limit counts what is read, before the filter, and a page that reached it has a next one", () => {
  for (const sk of ["1", "2", "3", "4"]) put({ ...key(sk), even: { BOOL: Number(sk) % 2 === 0 } });
  const filter = { FilterExpression: "even = :even", Limit: 2 };
  const values = { ":even": { BOOL: true } };
  const first = query("pk = :pk", values, filter);
  expect(first).toEqual({
    Items: [{ ...key("2"), even: { BOOL: true } }],
    Count: 1,
    ScannedCount: 2,
    LastEvaluatedKey: key("2"),
  });
  const second = query("pk = :pk", values, { ...filter, ExclusiveStartKey: first.LastEvaluatedKey });
  expect(second).toMatchObject({ Count: 1, ScannedCount: 2, LastEvaluatedKey: key("4") });
  const last = query("pk = :pk", values, { ...filter, ExclusiveStartKey: second.LastEvaluatedKey });
  expect(last).toEqual({ Items: [], Count: 0, ScannedCount: 0 });
  expect(query("pk = :pk", {}, { Select: "COUNT", Limit: 3 })).toEqual({
    Count: 3,
    ScannedCount: 3,
    LastEvaluatedKey: key("3"),
  });
});

it("a page ends at 1 MB, before the filter", () => {
  for (const sk of ["1", "2", "3", "4", "5"]) put({ ...key(sk), text: { S: "x".repeat(300_000) } });
  for (const options of [{}, { Select: "COUNT" }, { FilterExpression: "attribute_not_exists(pks)" }]) {
    expect(query("pk = :pk", {}, options)).toMatchObject({ ScannedCount: 4, LastEvaluatedKey: key("4") });
  }
  const { items, pages } = allPages("Scan", {});
  expect([items.length, pages]).toEqual([5, 2]);
});

it.each([
  ["pk = :pk OR sk = :pk", {}, {}, "Invalid operator used in KeyConditionExpression: OR"],
  ["pk > :pk", {}, {}, "Query key condition not supported"],
  ["pk = :pk AND sk <> :pk", {}, {}, "Invalid operator used in KeyConditionExpression: <>"],
  ["sk = :pk", {}, {}, "Query condition missed key schema element: pk"],
  ["pk = :pk AND elsewhere = :pk", {}, {}, "Query condition missed key schema element: sk"],
  ["pk = :pk AND pk = :pk", {}, {}, "must only contain one condition per key"],
  ["pk = :pk AND sk = :n", { ":n": { N: "1" } }, {}, "Condition parameter type does not match schema type"],
  ["pk = :pk AND sk = :e", { ":e": { S: "" } }, {}, "cannot contain an empty string value. Key: sk"],
  ["pk = :pk", {}, { FilterExpression: "sk = :pk" }, "Primary key attribute: sk"],
  ["pk = :pk", {}, { Limit: 0 }, "Limit"],
  ["pk = :pk", {}, { Select: "COUNT", ProjectionExpression: "sk" }, "choosing to get only the Count"],
  ["pk = :pk", {}, { Select: "ALL_ATTRIBUTES" }, "Select"],
  ["pk = :pk", {}, { IndexName: "none" }, "The table does not have the specified index: none"],
  ["pk = :pk", {}, { ExclusiveStartKey: { pk: { S: "a" } } }, "The provided starting key is invalid"],
  ["pk = :pk", {}, { ExclusiveStartKey: key("1", "b") }, "outside query boundaries"],
  ["pk = :pk AND sk > :pk", {}, { ExclusiveStartKey: key("A") }, "does not match the range key predicate"],
  ["pk = :pk", {}, { QueryFilter: {} }, "QueryFilter"],
])("the query %s %j %j is rejected: %s", (condition, values, options, words) => {
  expect(rejectionOf(() => query(condition, values, options))).toMatchObject({
    type: "ValidationException",
    message: expect.stringContaining(words),
  });
});

it.each([
  [{ ConsistentRead: true }, "Consistent reads are not supported on global secondary indexes"],
  [{ ProjectionExpression: "elsewhere" }, "byGroup does not project [elsewhere]"],
  [
    { FilterExpression: "attribute_exists(elsewhere)" },
    "does not project one or more filter attributes: [elsewhere]",
  ],
])("a read of an index with %j is rejected", (options, words) => {
  expect(rejectionOf(() => execute("Scan", { IndexName: "byGroup", ...options })).message).toContain(words);
});
