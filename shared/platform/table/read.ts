import { setTimeout as delay } from "node:timers/promises";

import type { QueryCommandInput } from "@aws-sdk/lib-dynamodb";
import type * as z from "zod/mini";

import { ApiError } from "../../api/contract/errors.ts";
import { BatchGetCommand, GetCommand, QueryCommand } from "../aws/dynamodb.ts";
import { config } from "../config.ts";
import { client } from "./client.ts";
import type { EntityName, Readable } from "./entities.ts";
import type { Key } from "./keys.ts";
import type { pendingWorkIndex } from "./pending-work-index.ts";
import { parsed, reportUnreadable, UnreadableRecordError } from "./records.ts";
import { fromStored, storedNameOf } from "./stored-names.ts";

/**
 * Reads one item and checks its shape. The read is eventually consistent by default.
 * @throws UnreadableRecordError, which has been reported
 * @throws ApiError UNAVAILABLE when its partition was too busy in every attempt
 */
export async function findItem<Name extends EntityName, Item>(
  schema: z.ZodMiniType<Item>,
  key: Key<Name> & Readable<Name, Item>,
  options: { consistent?: boolean } = {},
): Promise<Item | undefined> {
  const { Item } = await client.send(
    new GetCommand({ TableName: config.tableName(), Key: key, ConsistentRead: options.consistent ?? false }),
  );
  return Item === undefined ? undefined : parsed(schema, key, fromStored(Item));
}

/** One of two items that are read together. */
interface Wanted<Item> {
  readonly schema: z.ZodMiniType<Item>;
  readonly key: Key;
}

/** DynamoDB accepts 100 keys in one request. */
const maxBatchKeys = 100;

/** How often a batch is read when busy partitions left items out, and the longest delay in between. */
const batchAttempts = 6;
const maxBatchDelayMs = 100;

/**
 * Reads two items with one request, each as it is now. The two reads are not one snapshot: as with two requests, a write in
 * between may be visible in one of them.
 * @throws UnreadableRecordError, which has been reported
 * @throws ApiError UNAVAILABLE when a partition was too busy in every attempt
 */
export async function findBoth<One, Other>(
  one: Wanted<One>,
  other: Wanted<Other>,
): Promise<readonly [One | undefined, Other | undefined]> {
  const found = await readBatch([one.key, other.key]);
  // DynamoDB returns them in any order.
  const itemOf = <Item>({ schema, key }: Wanted<Item>): Item | undefined => {
    const item = found.find(({ pk, sk }) => pk === key.pk && sk === key.sk);
    return item === undefined ? undefined : parsed(schema, key, fromStored(item));
  };
  return [itemOf(one), itemOf(other)];
}

/**
 * Reads items, a hundred with one request, each as it is now. Missing items have no row, and the rows are in any order. An
 * unreadable record is reported.
 * @throws ApiError UNAVAILABLE when a partition was too busy in every attempt
 */
export async function findTogether<Item>(
  schema: z.ZodMiniType<Item>,
  keys: readonly Key[],
): Promise<Row<Item>[]> {
  const found: Record<string, unknown>[] = [];
  for (let start = 0; start < keys.length; start += maxBatchKeys) {
    found.push(...(await readBatch(keys.slice(start, start + maxBatchKeys))));
  }
  const { rows, unreadable } = rowsIn(schema, found);
  reportUnreadable(unreadable);
  return rows;
}

async function readBatch(keys: readonly Key[]): Promise<Record<string, unknown>[]> {
  const table = config.tableName();
  const found: Record<string, unknown>[] = [];
  let left: Record<string, unknown>[] = keys.map((key) => ({ ...key }));
  for (let attempt = 1; left.length > 0; attempt += 1) {
    if (attempt > batchAttempts) throw new ApiError("UNAVAILABLE");
    if (attempt > 1) await delay(Math.random() * maxBatchDelayMs);
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys: left, ConsistentRead: true } } }),
    );
    found.push(...(Responses[table] ?? []));
    left = UnprocessedKeys[table]?.Keys ?? [];
  }
  return found;
}

export interface Range {
  /** The index that is read instead of the table. Then `pk` and the sort key are those of the index. */
  readonly index?: typeof pendingWorkIndex;
  readonly pk: string;
  /** Inclusive bounds of the sort key, in text order. */
  readonly from?: string;
  readonly to?: string;
  readonly newestFirst?: boolean;
  /** The most items. */
  readonly limit: number;
  /** Starts after this sort key. */
  readonly after?: string | undefined;
  readonly consistent?: boolean;
  /** The fields that are read of each item, besides its key. All of them by default, which costs as much. */
  readonly fields?: readonly string[];
}

/** The entry at one key of a range. Its item is undefined if it cannot be read. */
export interface Row<Item> {
  readonly key: Key;
  readonly item: Item | undefined;
  /** Whether the reading of the list stopped here although more may follow. */
  readonly isCutOff?: true;
}

/**
 * Returns the first items of a range, for callers that must not skip any, such as those that add up money.
 * @throws UnreadableRecordError for the first that cannot be read, after all of them were reported
 * @throws ApiError UNAVAILABLE when the partition was too busy in every attempt
 */
export async function queryItems<Item>(schema: z.ZodMiniType<Item>, range: Range): Promise<Item[]> {
  const { rows, unreadable } = await query(schema, range);
  reportUnreadable(unreadable);
  const [first] = unreadable;
  if (first !== undefined) throw first;
  return itemsOf(rows);
}

/**
 * Returns the first rows of a range. An unreadable record is reported and fails nothing: lists leave it out, and continue
 * after its key.
 * @throws ApiError UNAVAILABLE when the partition was too busy in every attempt
 */
export async function queryRows<Item>(schema: z.ZodMiniType<Item>, range: Range): Promise<Row<Item>[]> {
  const { rows, unreadable } = await query(schema, range);
  reportUnreadable(unreadable);
  return rows;
}

/** Returns the items of the rows that can be read. */
export function itemsOf<Item>(rows: readonly Row<Item>[]): Item[] {
  return rows.flatMap(({ item }) => item ?? []);
}

/** Rows, and the errors of those that cannot be read. */
interface Rows<Item> {
  readonly rows: Row<Item>[];
  readonly unreadable: UnreadableRecordError[];
}

/** Reads a range, over several of DynamoDB's 1 MB pages if necessary. */
async function query<Item>(schema: z.ZodMiniType<Item>, range: Range): Promise<Rows<Item>> {
  const all: Rows<Item> = { rows: [], unreadable: [] };
  const parameters = queryParameters(range);
  // Nothing follows the last key of a range. DynamoDB may reject a start there.
  if (range.after !== undefined && range.after === (range.newestFirst ? range.from : range.to)) return all;
  while (all.rows.length < range.limit) {
    const page = await client.send(new QueryCommand({ ...parameters, Limit: range.limit - all.rows.length }));
    const { rows, unreadable } = rowsIn(schema, page.Items);
    all.rows.push(...rows);
    all.unreadable.push(...unreadable);
    if (page.LastEvaluatedKey === undefined) break;
    parameters.ExclusiveStartKey = page.LastEvaluatedKey;
  }
  return all;
}

function rowsIn<Item>(
  schema: z.ZodMiniType<Item>,
  found: readonly Record<string, unknown>[] = [],
): Rows<Item> {
  const unreadable: UnreadableRecordError[] = [];
  const rows = found.map((each) => {
    const key = { pk: String(each["pk"]), sk: String(each["sk"]) };
    const result = schema.safeParse(fromStored(each));
    if (!result.success) unreadable.push(new UnreadableRecordError(key, result.error));
    return { key, item: result.data };
  });
  return { rows, unreadable };
}

/**
 * Reads the next items of a range, at most 1 MB, and returns the rows whose field contains a text. DynamoDB compares, so that
 * the others cost read units but are not transferred.
 * @returns also the number of items that were read, and the last one's sort key if the range has more
 */
export async function queryContaining<Item>(
  schema: z.ZodMiniType<Item>,
  range: Range,
  field: keyof Item & string,
  text: string,
): Promise<{ readonly rows: Row<Item>[]; readonly read: number; readonly last: string | undefined }> {
  const parameters = queryParameters(range);
  const page = await client.send(
    new QueryCommand({
      ...parameters,
      Limit: range.limit,
      FilterExpression: "contains(#field, :text)",
      ExpressionAttributeNames: { "#field": storedNameOf(field) },
      ExpressionAttributeValues: { ...parameters.ExpressionAttributeValues, ":text": text },
    }),
  );
  const { rows, unreadable } = rowsIn(schema, page.Items);
  reportUnreadable(unreadable);
  const { LastEvaluatedKey: last, ScannedCount: read = 0 } = page;
  return { rows, read, last: last === undefined ? undefined : String(last["sk"]) };
}

/** Returns the sort key of the `count`-th item of a range; undefined if the range is shorter. Reads no attributes. */
export async function skipItems(range: Omit<Range, "limit">, count: number): Promise<string | undefined> {
  let skipped = 0;
  let after = range.after;
  while (skipped < count) {
    const page = await client.send(
      new QueryCommand({
        ...queryParameters({ ...range, after, limit: count }),
        Select: "COUNT",
        Limit: count - skipped,
      }),
    );
    skipped += page.Count ?? 0;
    if (page.LastEvaluatedKey === undefined) return undefined;
    after = String(page.LastEvaluatedKey["sk"]);
  }
  return after;
}

function queryParameters(range: Range): QueryCommandInput {
  // DynamoDB accepts one condition on the sort key. The key is never empty and never above U+10FFFF.
  const { after, from = " ", to = "\u{10FFFF}", newestFirst = false } = range;
  const isAfterWithin = after !== undefined && from <= after && after <= to;
  // DynamoDB seeks to that key in any case. The embedded store reads the range from its beginning, so the range starts there.
  const [first, last] = !isAfterWithin ? [from, to] : newestFirst ? [from, after] : [after, to];
  const { partitionKey, sortKey } = range.index ?? { partitionKey: "pk", sortKey: "sk" };
  return {
    TableName: config.tableName(),
    ...(range.index === undefined ? {} : { IndexName: range.index.name }),
    KeyConditionExpression: `${partitionKey} = :pk AND ${sortKey} BETWEEN :from AND :to`,
    ExpressionAttributeValues: { ":pk": range.pk, ":from": first, ":to": last },
    ScanIndexForward: !newestFirst,
    ConsistentRead: range.consistent ?? false,
    ...(after === undefined ? {} : { ExclusiveStartKey: { pk: range.pk, sk: after } }),
    ...(range.fields === undefined ? {} : projectionOf(range.fields)),
  };
}

/** Some names of fields are words of DynamoDB, so each has a placeholder. */
function projectionOf(
  fields: readonly string[],
): Pick<QueryCommandInput, "ExpressionAttributeNames" | "ProjectionExpression"> {
  const names = fields.map((field, index) => [`#${index}`, storedNameOf(field)] as const);
  return {
    ProjectionExpression: ["pk", "sk", ...names.map(([placeholder]) => placeholder)].join(", "),
    ExpressionAttributeNames: Object.fromEntries(names),
  };
}
