import { beforeEach, expect, it } from "vitest";

import { ServiceError } from "../../../infra/local/store/service-error.ts";
import { key, newStore, rejectionOf, type Execute } from "./own-store.ts";

let execute: Execute;
beforeEach(() => {
  const store = newStore();
  ({ execute } = store);
  store.put({
    text: { S: "añb" },
    count: { N: "10" },
    flag: { BOOL: true },
    none: { NULL: true },
    binaries: { B: "AQID" },
    tags: { SS: ["red", "blue"] },
    sizes: { NS: ["1", "2.5"] },
    list: { L: [{ S: "zero" }, { N: "1" }, { M: { deep: { S: "down" } } }] },
    map: { M: { x: { N: "1" }, "a.b": { S: "dotted" }, below: { L: [{ N: "5" }] } } },
    hasOwnProperty: { S: "named so" },
  });
});

const names = {
  "#count": "count",
  "#list": "list",
  "#map": "map",
  "#text": "text",
  "#dotted": "a.b",
  "#x": "x",
};
const values = {
  ":one": { N: "1" },
  ":two": { N: "2.0" },
  ":nine": { N: "9" },
  ":ten": { N: "1E+1" },
  ":eleven": { N: "11" },
  ":a": { S: "a" },
  ":red": { S: "red" },
  ":z": { S: "z" },
  ":textOfTen": { S: "10" },
  ":N": { S: "N" },
  ":true": { BOOL: true },
  ":byte": { B: "AQ==" },
  ":five": { N: "5" },
  ":four": { N: "4" },
  ":purple": { SS: ["purple", "red"] },
  ":numbers": { NS: ["2.50", "7"] },
  ":more": { L: [{ S: "more" }] },
  ":map": { M: {} },
  ":dotted": { S: "dotted" },
  ":sizes": { NS: ["2.5", "1.0"] },
};

/** The placeholders that an expression has. */
function placeholders(...expressions: readonly string[]): object {
  const text = expressions.join(" ");
  const used = (all: object): object | undefined => {
    const entries = Object.entries(all).filter(([name]) => new RegExp(`${name}\\b`).test(text));
    return entries.length === 0 ? undefined : Object.fromEntries(entries);
  };
  const [ExpressionAttributeNames, ExpressionAttributeValues] = [used(names), used(values)];
  return {
    ...(ExpressionAttributeNames === undefined ? {} : { ExpressionAttributeNames }),
    ...(ExpressionAttributeValues === undefined ? {} : { ExpressionAttributeValues }),
  };
}

function isTrue(ConditionExpression: string): boolean {
  const input = { Key: key(), ConditionExpression, ...placeholders(ConditionExpression) };
  try {
    execute("DeleteItem", input);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.type === "ConditionalCheckFailedException") return false;
    throw error;
  }
}

it.each([
  "#count = :ten",
  "#count <> :one",
  "#count > :nine AND #count < :eleven AND #count >= :ten AND #count <= :ten",
  ":nine < #count",
  "#count BETWEEN :nine AND :ten",
  "#count IN (:one, :ten)",
  "absent <> :one",
  "NOT absent = :one",
  "attribute_exists(pk) and attribute_not_exists(absent)",
  "attribute_type(#count, :N)",
  "begins_with(#text, :a)",
  "begins_with(binaries, :byte)",
  "contains(#text, :a)",
  "contains(tags, :red)",
  "contains(sizes, :one)",
  "contains(#list, :one)",
  "size(#text) = :four",
  "size(tags) = :two",
  "size(#map.#dotted) > :two",
  "#map.x = :one",
  "#map.#dotted = :dotted",
  "#map.below[0] = :five",
  "#list[1] = :one",
  "#list[2].deep > :a",
  "sizes = :sizes",
  "attribute_exists(hasOwnProperty)",
  "#count = :one OR #count = :ten AND attribute_exists(flag)",
  "NOT (#count = :ten AND #count = :one)",
  "(#count = :one OR flag = :true) AND (#text <> :a)",
])("%s is true", (condition) => {
  expect(isTrue(condition)).toBe(true);
});

it.each([
  "#count = :textOfTen",
  "#count < :textOfTen OR #count > :textOfTen",
  "absent = :one OR absent < :one OR absent > :one",
  "attribute_exists(toString)",
  "attribute_exists(#map.valueOf)",
  "attribute_exists(#map[0])",
  "attribute_exists(#list[3])",
  "attribute_exists(#list.x)",
  "size(#count) > :one",
  "contains(#text, :one)",
  "begins_with(#count, :a)",
  "#text > :z",
  "NOT #count = :ten",
])("%s is false", (condition) => {
  expect(isTrue(condition)).toBe(false);
});

it.each([
  ["#count = ", 'Invalid ConditionExpression: Syntax error; token: "<EOF>"'],
  ["#count == :one", 'Syntax error; token: "="'],
  ["3 = :one", 'Syntax error; token: "3"'],
  ["#count = :one extra", 'Syntax error; token: "extra"'],
  ["", "The expression can not be empty"],
  ["((#count = :one))", "redundant parentheses"],
  ["count = :one", "Attribute name is a reserved keyword; reserved keyword: count"],
  ["#map.size = :one", "reserved keyword: size"],
  ["attribute_exists(:one)", "requires a document path; operator or function: attribute_exists"],
  ["exists(pk)", "Invalid function name; function: exists"],
  ["begins_with(pk, :one)", "operator or function: begins_with, operand type: N"],
  ["#count < :true", "operator or function: <, operand type: BOOL"],
  ["attribute_type(pk, :a)", "Invalid attribute type name found; type: a"],
  ["pk BETWEEN :z AND :a", "upper bound to be greater than or equal to lower bound"],
  ["#count = #count", "The first operand must be distinct from the remaining operands"],
  ["pk = :missing", "attribute value used in expression is not defined; attribute value: :missing"],
  ["#missing = :one", "name used in the document path is not defined; attribute name: #missing"],
  [`pk = :a${" OR pk = :a".repeat(400)}`, "size"],
])("the condition %s is rejected: %s", (ConditionExpression, words) => {
  const ask = (): unknown =>
    execute("DeleteItem", { Key: key(), ConditionExpression, ...placeholders(ConditionExpression) });
  expect(rejectionOf(ask)).toMatchObject({
    type: "ValidationException",
    message: expect.stringContaining(words),
  });
});

it("unused placeholders are rejected", () => {
  const ConditionExpression = "attribute_exists(pk)";
  const ask = (given: object): unknown => execute("DeleteItem", { Key: key(), ...given });
  expect(
    rejectionOf(() => ask({ ConditionExpression, ExpressionAttributeValues: { ":a": { S: "" } } })).message,
  ).toBe("Value provided in ExpressionAttributeValues unused in expressions: keys: {:a}");
  expect(
    rejectionOf(() => ask({ ConditionExpression, ExpressionAttributeNames: { "#a": "a" } })).message,
  ).toBe("Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}");
  expect(rejectionOf(() => ask({ ExpressionAttributeNames: { "#a": "a" } })).message).toContain(
    "can only be specified when using expressions",
  );
});

/** Returns the attributes that an update has changed. */
function updated(UpdateExpression: string): unknown {
  return execute("UpdateItem", {
    Key: key(),
    UpdateExpression,
    ReturnValues: "UPDATED_NEW",
    ...placeholders(UpdateExpression),
  }).Attributes;
}

it.each([
  ["SET #count = #count + :one", { count: { N: "11" } }],
  ["SET #count = :one - #count", { count: { N: "-9" } }],
  ["SET #count = if_not_exists(absent, :one) + :one", { count: { N: "2" } }],
  ["SET #count = if_not_exists(#count, :one)", { count: { N: "10" } }],
  [
    "SET fresh = list_append(if_not_exists(absent, :more), :more)",
    { fresh: { L: [{ S: "more" }, { S: "more" }] } },
  ],
  ["SET #count = #map.x, #map.x = #count", { count: { N: "1" }, map: { M: { x: { N: "10" } } } }],
  ["SET #map.fresh = :one", { map: { M: { fresh: { N: "1" } } } }],
  ["SET #list[1] = :ten, #list[9] = :one", { list: { L: [{ N: "10" }] } }],
  ["REMOVE absent", undefined],
  ["ADD #count :ten, fresh :one", { count: { N: "20" }, fresh: { N: "1" } }],
  ["ADD tags :purple", { tags: { SS: ["red", "blue", "purple"] } }],
  ["DELETE tags :purple, sizes :numbers", { tags: { SS: ["blue"] }, sizes: { NS: ["1"] } }],
  ["DELETE sizes :sizes", undefined],
  ["DELETE absent :purple", undefined],
  ["SET #map = :map REMOVE tags", { map: { M: {} } }],
])("%s leaves %j", (expression, left) => {
  expect(updated(expression)).toEqual(left);
});

it("elements that are removed from a list are those that were there before", () => {
  updated("REMOVE #list[0], #list[1]");
  expect(execute("GetItem", { Key: key() }).Item?.["list"]).toEqual({ L: [{ M: { deep: { S: "down" } } }] });
});

it("an element that is set after the end of a list is appended", () => {
  updated("SET #list[9] = :one, #list[7] = :two REMOVE #list[0]");
  expect(execute("GetItem", { Key: key() }).Item?.["list"]).toEqual({
    L: [{ N: "1" }, { M: { deep: { S: "down" } } }, { N: "2" }, { N: "1" }],
  });
});

it.each([
  ["SET pk = :a", "Cannot update attribute pk. This attribute is part of the key"],
  ["SET #count = :one, #count = :two", "overlap with each other"],
  ["SET #map.x = :one REMOVE #map", "path one: [map, x], path two: [map]"],
  ["SET #map.x = :one, #map[0] = :one", "conflict with each other"],
  ["SET #count = :one SET flag = :one", 'The "SET" section can only be used once'],
  ["SET absent.x = :one", "The document path provided in the update expression is invalid for update"],
  ["SET #count.x = :one", "invalid for update"],
  ["REMOVE absent.x", "invalid for update"],
  ["SET #count = #text + :one", "An operand in the update expression has an incorrect data type"],
  ["SET #count = :a + :one", "Incorrect operand type for operator or function"],
  ["SET #list = list_append(:more, #list[2].gone)", "an attribute that does not exist in the item"],
  ["SET #count = :one + absent", "an attribute that does not exist in the item"],
  ["SET #list = list_append(if_not_exists(absent, :one), :more)", "incorrect data type"],
  [
    "SET #count = list_append(:more, :more) + :one",
    "not allowed to be used this way in an expression; function: list_append",
  ],
  ["SET #list = list_append(list_append(:more, :more), :more)", "not allowed to be used this way"],
  ["SET #list = if_not_exists(#list, #list)", "must be distinct from the remaining operands"],
  ["ADD #text :one", "incorrect data type"],
  ["ADD #count :a", "operator or function: ADD, operand type: S"],
  ["DELETE tags :numbers", "incorrect data type"],
  ["DELETE tags :red", "operator or function: DELETE, operand type: S"],
  ["SET #count = size(#text)", "Invalid function name; function: size"],
  ["PUT #count = :one", "Syntax error"],
])("the update %s is rejected: %s", (expression, words) => {
  expect(rejectionOf(() => updated(expression))).toMatchObject({
    type: "ValidationException",
    message: expect.stringContaining(words),
  });
});

it("a projection has the shape of the item", () => {
  const ProjectionExpression = "#list[2].deep, #list[0], #map.x, absent, #map.absent";
  const { Item } = execute("GetItem", {
    Key: key(),
    ProjectionExpression,
    ...placeholders(ProjectionExpression),
  });
  expect(Item).toEqual({
    list: { L: [{ S: "zero" }, { M: { deep: { S: "down" } } }] },
    map: { M: { x: { N: "1" } } },
  });
});

it("attributes may have the names of what every object has", () => {
  // As it comes from JSON, where this is a name like others.
  const attributes: object = JSON.parse(
    '{"__proto__": {"S": "a"}, "toString": {"M": {"__proto__": {"N": "1"}}}}',
  );
  execute("UpdateItem", {
    Key: key("2"),
    UpdateExpression: "SET #one = :one, #other = :other",
    ExpressionAttributeNames: { "#one": "__proto__", "#other": "toString" },
    ExpressionAttributeValues: {
      ":one": { S: "a" },
      ":other": { M: JSON.parse('{"__proto__": {"N": "1"}}') },
    },
  });
  const { Item } = execute("GetItem", { Key: key("2") });
  expect(JSON.parse(JSON.stringify(Item))).toEqual({ ...attributes, ...key("2") });
  expect(Object.keys(Item ?? {})).toContain("__proto__");
});
