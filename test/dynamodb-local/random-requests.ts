import fc from "fast-check";

import type { AttributeValue, Item } from "../../infra/local/store/attribute-values.ts";
import {
  attributes,
  bytes,
  condition,
  number,
  path,
  placeholders,
  pool,
  text,
  update,
  value,
} from "./random-expressions.ts";

/** A random request in DynamoDB's protocol. */
export interface Request {
  readonly operation: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Whether it is sent twice, with a token that marks the second one as a repeat. */
  readonly isRepeated?: boolean;
}

/** A table, and requests for it, one after another. */
export interface Sequence {
  readonly definition: Readonly<Record<string, unknown>> & { readonly TableName: string };
  readonly requests: readonly Request[];
}

type RangeType = "B" | "N" | "S" | undefined;

const maybe = <Each>(arbitrary: fc.Arbitrary<Each>): fc.Arbitrary<Each | undefined> =>
  fc.option(arbitrary, { nil: undefined });

function without(fieldsOfInput: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fieldsOfInput).filter(([, each]) => each !== undefined));
}

/** Arbitrary requests for a table of one shape. */
function requestsFor(TableName: string, range: RangeType): fc.Arbitrary<Request> {
  const rangeValue: fc.Arbitrary<AttributeValue> =
    range === "N"
      ? number.map((N) => ({ N }))
      : range === "B"
        ? fc.constantFrom(...bytes).map((B) => ({ B }))
        : text.map((S) => ({ S }));
  const key: fc.Arbitrary<Item> = fc
    .tuple(fc.constantFrom("p", "q"), rangeValue)
    .map(([S, sk]) => (range === undefined ? { pk: { S } } : { pk: { S }, sk }));
  const item: fc.Arbitrary<Item> = fc
    .tuple(
      key,
      fc.uniqueArray(fc.tuple(fc.constantFrom(...attributes), value), { selector: ([name]) => name }),
      maybe(fc.tuple(text, number)),
    )
    .map(([keys, entries, inIndexes]) => ({
      ...Object.fromEntries(entries),
      ...(inIndexes === undefined ? {} : { group: { S: inIndexes[0] }, rank: { N: inIndexes[1] } }),
      ...keys,
    }));
  const capacity = maybe(fc.constant("TOTAL"));
  const onFailure = maybe(fc.constantFrom("ALL_OLD", "NONE"));

  const put = fc
    .tuple(item, maybe(condition), pool, onFailure)
    .map(([Item, ConditionExpression, values, ReturnValuesOnConditionCheckFailure]) =>
      without({
        TableName,
        Item,
        ConditionExpression,
        ReturnValuesOnConditionCheckFailure,
        ...placeholders([ConditionExpression], values),
      }),
    );
  const deletion = fc
    .tuple(key, maybe(condition), pool, onFailure)
    .map(([Key, ConditionExpression, values, ReturnValuesOnConditionCheckFailure]) =>
      without({
        TableName,
        Key,
        ConditionExpression,
        ReturnValuesOnConditionCheckFailure,
        ...placeholders([ConditionExpression], values),
      }),
    );
  const change = fc
    .tuple(key, update, maybe(condition), pool, onFailure)
    .map(([Key, UpdateExpression, ConditionExpression, values, ReturnValuesOnConditionCheckFailure]) =>
      without({
        TableName,
        Key,
        UpdateExpression,
        ConditionExpression,
        ReturnValuesOnConditionCheckFailure,
        ...placeholders([UpdateExpression, ConditionExpression], values),
      }),
    );
  const asked = (
    operation: string,
    input: fc.Arbitrary<Record<string, unknown>>,
    ...returned: readonly string[]
  ): fc.Arbitrary<Request> =>
    fc
      .tuple(input, capacity, maybe(fc.constantFrom("NONE", ...returned)))
      .map(([fieldsOfInput, ReturnConsumedCapacity, ReturnValues]) => ({
        operation,
        input: without({
          ...fieldsOfInput,
          ReturnConsumedCapacity,
          ...(returned.length === 0 ? {} : { ReturnValues }),
        }),
      }));

  const get = fc
    .tuple(key, maybe(fc.array(path, { minLength: 1, maxLength: 3 })), maybe(fc.boolean()), pool)
    .map(([Key, paths, ConsistentRead, values]) => {
      const ProjectionExpression = paths?.join(", ");
      return without({
        TableName,
        Key,
        ProjectionExpression,
        ConsistentRead,
        ...placeholders([ProjectionExpression], values),
      });
    });

  const rangeCondition = fc.oneof(
    fc.constant(""),
    fc.constantFrom("=", "<", "<=", ">", ">=").map((sign) => ` AND sk ${sign} :from`),
    fc.constant(" AND sk BETWEEN :from AND :to"),
    fc.constant(" AND begins_with(sk, :from)"),
  );
  const query = fc
    .tuple(
      fc.record({
        hash: fc.constantFrom("p", "q"),
        rangeCondition,
        from: rangeValue,
        to: rangeValue,
        start: maybe(rangeValue),
      }),
      maybe(condition),
      pool,
      fc.record({
        Limit: maybe(fc.integer({ min: 1, max: 4 })),
        ScanIndexForward: maybe(fc.boolean()),
        Select: maybe(fc.constant("COUNT")),
        ConsistentRead: maybe(fc.boolean()),
      }),
    )
    .map(([{ hash, from, to, start, ...given }, FilterExpression, values, options]) => {
      const ofRange = range === undefined ? "" : given.rangeCondition;
      const others: { ExpressionAttributeValues?: object } = placeholders([FilterExpression], values);
      return without({
        TableName,
        KeyConditionExpression: `pk = :pk${ofRange}`,
        FilterExpression,
        ...options,
        ...(start === undefined || range === undefined
          ? {}
          : { ExclusiveStartKey: { pk: { S: hash }, sk: start } }),
        ...others,
        ExpressionAttributeValues: {
          ...others.ExpressionAttributeValues,
          ":pk": { S: hash },
          ...(ofRange.includes(":from") ? { ":from": from } : {}),
          ...(ofRange.includes(":to") ? { ":to": to } : {}),
        },
      });
    });
  const indexQuery = fc
    .tuple(fc.constantFrom("keys", "all", "some"), text, maybe(number), maybe(fc.constant("COUNT")))
    .map(([IndexName, S, N, Select]) =>
      without({
        TableName,
        IndexName,
        Select,
        KeyConditionExpression: N === undefined ? "#group = :group" : "#group = :group AND #rank >= :rank",
        ExpressionAttributeNames: { "#group": "group", ...(N === undefined ? {} : { "#rank": "rank" }) },
        ExpressionAttributeValues: { ":group": { S }, ...(N === undefined ? {} : { ":rank": { N } }) },
      }),
    );
  const scan = fc
    .tuple(maybe(fc.constantFrom("keys", "all", "some")), maybe(condition), pool)
    .map(([IndexName, filter, values]) => {
      // An index does not have all fields of a filter.
      const FilterExpression = IndexName === undefined || IndexName === "all" ? filter : undefined;
      return without({ TableName, IndexName, FilterExpression, ...placeholders([FilterExpression], values) });
    });

  const transaction = fc
    .tuple(
      fc.array(
        fc.oneof(
          put.map((Put) => ({ Put })),
          deletion.map((Delete) => ({ Delete })),
          change.map((Update) => ({ Update })),
          fc
            .tuple(deletion, condition, pool)
            .map(([{ TableName: name, Key }, ConditionExpression, values]) => ({
              ConditionCheck: {
                TableName: name,
                Key,
                ConditionExpression,
                ...placeholders([ConditionExpression], values),
              },
            })),
        ),
        { minLength: 1, maxLength: 4 },
      ),
    )
    .map(([TransactItems]) => ({ TransactItems }));
  const keys = fc.array(key, { minLength: 1, maxLength: 4 });
  return fc.oneof(
    { weight: 4, arbitrary: asked("PutItem", put, "ALL_OLD") },
    {
      weight: 6,
      arbitrary: asked("UpdateItem", change, "ALL_OLD", "ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"),
    },
    { weight: 1, arbitrary: asked("DeleteItem", deletion, "ALL_OLD") },
    { weight: 2, arbitrary: asked("GetItem", get) },
    { weight: 3, arbitrary: asked("Query", query) },
    { weight: 2, arbitrary: asked("Query", indexQuery) },
    { weight: 1, arbitrary: asked("Scan", scan) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(transaction, fc.boolean())
        .map(([input, isRepeated]) => ({ operation: "TransactWriteItems", input, isRepeated })),
    },
    {
      weight: 1,
      arbitrary: keys.map((Keys) => ({
        operation: "BatchGetItem",
        input: { RequestItems: { [TableName]: { Keys } } },
      })),
    },
    {
      weight: 1,
      arbitrary: fc
        .array(
          fc.oneof(
            item.map((Item) => ({ PutRequest: { Item } })),
            key.map((Key) => ({ DeleteRequest: { Key } })),
          ),
          { minLength: 1, maxLength: 4 },
        )
        .map((writes) => ({ operation: "BatchWriteItem", input: { RequestItems: { [TableName]: writes } } })),
    },
  );
}

/** Sequences of requests, each for a separate table under the name. */
export function sequencesFor(TableName: string): fc.Arbitrary<Sequence> {
  return fc
    .constantFrom<RangeType>("S", "N", "B", undefined)
    .chain((range) =>
      fc
        .array(requestsFor(TableName, range), { minLength: 4, maxLength: 16, size: "max" })
        .map((requests) => ({ definition: definitionOf(TableName, range), requests })),
    );
}

function definitionOf(TableName: string, range: RangeType): Sequence["definition"] {
  const indexKey = [
    { AttributeName: "group", KeyType: "HASH" },
    { AttributeName: "rank", KeyType: "RANGE" },
  ];
  return {
    TableName,
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      ...(range === undefined ? [] : [{ AttributeName: "sk", KeyType: "RANGE" }]),
    ],
    AttributeDefinitions: [
      { AttributeName: "pk", AttributeType: "S" },
      ...(range === undefined ? [] : [{ AttributeName: "sk", AttributeType: range }]),
      { AttributeName: "group", AttributeType: "S" },
      { AttributeName: "rank", AttributeType: "N" },
    ],
    GlobalSecondaryIndexes: [
      { IndexName: "keys", KeySchema: indexKey, Projection: { ProjectionType: "KEYS_ONLY" } },
      { IndexName: "all", KeySchema: indexKey, Projection: { ProjectionType: "ALL" } },
      {
        IndexName: "some",
        KeySchema: indexKey,
        Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["a", "b"] },
      },
    ],
    BillingMode: "PAY_PER_REQUEST",
  };
}
