import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";

import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  type CancellationReason,
} from "@aws-sdk/client-dynamodb";
import {
  BatchGetCommand,
  DeleteCommand,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
  type QueryCommandInput,
  type TransactWriteCommandInput,
} from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import type * as z from "zod/mini";

import { ApiError } from "../../contract/errors.ts";
import { dropDeadConnections } from "../aws/connections.ts";
import { DynamoDb } from "../aws/dynamodb.ts";
import { patientAttempts } from "../aws/retry.ts";
import { config } from "../config.ts";
import { log } from "../log.ts";
import { countMetrics } from "../metrics.ts";
import type { pendingWorkIndex, Key } from "./keys.ts";

const client = tableClient(3);

/**
 * The client for writes that must not be applied twice and are not idempotent by themselves. It repeats an attempt only if
 * DynamoDB reported that it did not apply the attempt before.
 */
const singleEffectClient = tableClient(1);

/** The client for writes that are not worth waiting for: it sends them once. */
const bestEffortClient = tableClient(1, 1);

function tableClient(maxUnheardAttempts: number, maxAttempts = patientAttempts): DynamoDb {
  return new DynamoDb({ maxAttempts, maxUnheardAttempts, failure: unavailableIfBusy });
}

/** The errors of a valid request that DynamoDB has no capacity for now. */
const busyErrors = new Set([
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "ThrottlingException",
  "TransactionConflictException",
]);

function unavailableIfBusy(error: unknown): unknown {
  const isBusy = error instanceof Error && busyErrors.has(error.name);
  return isBusy ? new ApiError("UNAVAILABLE", { cause: error }) : error;
}

interface Expressions {
  readonly condition?: string;
  readonly names?: Record<string, string>;
  readonly values?: Record<string, unknown>;
}

export interface Put extends Expressions {
  readonly put: Key & Record<string, unknown>;
}

export interface Update extends Expressions {
  readonly key: Key;
  readonly update: string;
}

export interface Delete extends Expressions {
  readonly delete: Key;
}

/** A condition without a change. The transaction that contains it is rejected unless the condition holds. */
export interface Check extends Expressions {
  readonly check: Key;
  readonly condition: string;
}

export type Write = Check | Delete | Put | Update;

/** The writes of a transaction by name. A name may have several writes, or none. */
type NamedWrites<Name extends string> = Readonly<Record<Name, Write | readonly Write[]>>;

/** The outcome of a conditional write. A rejected write carries the item that was there, if any. */
export type Outcome<Applied> =
  | { readonly applied: true; readonly item: Applied }
  | { readonly applied: false; readonly found: Record<string, unknown> | undefined };

/** An item has another shape than its record, so no known release wrote it. */
export class UnreadableRecordError extends Error {
  readonly key: Key;

  constructor(key: Key, cause?: unknown) {
    super(`the record ${loggableKey(key)} cannot be read`, { cause });
    this.key = key;
  }
}

/** Handles the error for callers that do not fail because of one record. It has been reported. */
export function undefinedIfUnreadable(error: unknown): undefined {
  if (error instanceof UnreadableRecordError) return undefined;
  throw error;
}

/** Handles the error for callers that distinguish an unreadable record from none. */
export function unreadableOf(error: unknown): "unreadable" {
  if (error instanceof UnreadableRecordError) return "unreadable";
  throw error;
}

/** The most keys in one report. */
const maxReported = 10;

/** Reports unreadable records in one log line: their keys and the error of the first, without their content. */
function reportUnreadable(errors: readonly UnreadableRecordError[]): void {
  const [first] = errors;
  if (first === undefined) return;
  const recordKeys = errors.slice(0, maxReported).map(({ key }) => loggableKey(key));
  log.error("record.unreadable", { recordKeys, count: errors.length, error: first.cause });
  countMetrics({ UnreadableRecords: errors.length });
}

/** Returns a key without an email or a phone number, which must not be logged. */
function loggableKey({ pk, sk }: Key): string {
  if (/^(EMAIL|LIMIT)#/.test(pk)) return pk.replace(/#.*/, "#…");
  if (pk.startsWith("OPT_OUTS#")) return `${pk} …`;
  return `${pk} ${sk.replace(/^PHONE#.*/, "PHONE#…")}`;
}

/** @throws UnreadableRecordError, which has been reported */
function parsed<Item>(schema: z.ZodMiniType<Item>, key: Key, item: unknown): Item {
  const result = schema.safeParse(item);
  if (result.success) return result.data;
  const error = new UnreadableRecordError(key, result.error);
  reportUnreadable([error]);
  throw error;
}

/**
 * Reads one item and checks its shape. The read is eventually consistent by default.
 * @throws UnreadableRecordError, which has been reported
 * @throws ApiError UNAVAILABLE when its partition was too busy in every attempt
 */
export async function findItem<Item>(
  schema: z.ZodMiniType<Item>,
  key: Key,
  options: { consistent?: boolean } = {},
): Promise<Item | undefined> {
  const { Item } = await client.send(
    new GetCommand({ TableName: config.tableName(), Key: key, ConsistentRead: options.consistent ?? false }),
  );
  return Item === undefined ? undefined : parsed(schema, key, Item);
}

/** One of two items that are read together. */
interface Wanted<Item> {
  readonly schema: z.ZodMiniType<Item>;
  readonly key: Key;
}

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
  const table = config.tableName();
  const found: Record<string, unknown>[] = [];
  let left: Record<string, unknown>[] = [{ ...one.key }, { ...other.key }];
  for (let attempt = 1; left.length > 0; attempt += 1) {
    if (attempt > batchAttempts) throw new ApiError("UNAVAILABLE");
    if (attempt > 1) await delay(Math.random() * maxBatchDelayMs);
    const { Responses = {}, UnprocessedKeys = {} } = await client.send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys: left, ConsistentRead: true } } }),
    );
    found.push(...(Responses[table] ?? []));
    left = UnprocessedKeys[table]?.Keys ?? [];
  }
  // DynamoDB returns them in any order.
  const itemOf = <Item>({ schema, key }: Wanted<Item>): Item | undefined => {
    const item = found.find(({ pk, sk }) => pk === key.pk && sk === key.sk);
    return item === undefined ? undefined : parsed(schema, key, item);
  };
  return [itemOf(one), itemOf(other)];
}

interface Recognition<Item> {
  /**
   * Recognizes the item as this write left it. The client repeats a write whose response was lost. If the condition does
   * not hold a second time, the first attempt causes the rejection of the repeat.
   */
  readonly isOwn?: (found: Item) => boolean;
}

interface UpdateOptions<Item> extends Recognition<Item> {
  /** Whether it must not be applied twice, so that it is not sent again when its response is lost. */
  readonly singleEffect?: boolean;
  /** Whether its loss is tolerated. Then it is sent once, and does not wait for a throttled partition. */
  readonly bestEffort?: boolean;
}

/**
 * Applies an update and returns the item after it.
 * @throws ApiError UNAVAILABLE when the item was too busy in every attempt
 */
export async function updateItem<Item>(
  schema: z.ZodMiniType<Item>,
  update: Update,
  { singleEffect = false, bestEffort = false, isOwn }: UpdateOptions<Item> = {},
): Promise<Outcome<Item>> {
  const dynamodb = bestEffort ? bestEffortClient : singleEffect ? singleEffectClient : client;
  if (bestEffort || singleEffect) dropDeadConnections();
  const outcome = await outcomeOf(async () => {
    const { Attributes } = await dynamodb.send(
      new UpdateCommand({
        ...updateParameters(update),
        ReturnValues: "ALL_NEW",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    );
    return parsed(schema, update.key, Attributes);
  });
  return recognized((found) => parsed(schema, update.key, found), outcome, isOwn);
}

/**
 * Puts one item.
 * @throws ApiError UNAVAILABLE when the item was too busy in every attempt
 */
export async function putItem(
  put: Put,
  { isOwn }: Recognition<Record<string, unknown>> = {},
): Promise<Outcome<Record<string, unknown>>> {
  const outcome = await outcomeOf(async () => {
    await client.send(
      new PutCommand({ ...putParameters(put), ReturnValuesOnConditionCheckFailure: "ALL_OLD" }),
    );
    return put.put;
  });
  return recognized((found) => found, outcome, isOwn);
}

/**
 * Deletes one item. Without a condition, the deletion of a missing item does nothing.
 * @throws ApiError UNAVAILABLE when the item was too busy in every attempt
 */
export async function deleteItem(key: Key, only: Expressions = {}): Promise<Outcome<Key>> {
  return outcomeOf(async () => {
    await client.send(
      new DeleteCommand({
        TableName: config.tableName(),
        Key: key,
        ...expressions(only),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    );
    return key;
  });
}

function recognized<Item>(
  read: (found: Record<string, unknown>) => Item,
  outcome: Outcome<Item>,
  isOwn: Recognition<Item>["isOwn"],
): Outcome<Item> {
  if (isOwn === undefined || outcome.applied || outcome.found === undefined) return outcome;
  const item = read(outcome.found);
  return isOwn(item) ? { applied: true, item } : outcome;
}

async function outcomeOf<Item>(write: () => Promise<Item>): Promise<Outcome<Item>> {
  try {
    return { applied: true, item: await write() };
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return { applied: false, found: oldItem(error) };
    throw error;
  }
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
}

/** The entry at one key of a range. Its item is undefined if it cannot be read. */
export interface Row<Item> {
  readonly key: Key;
  readonly item: Item | undefined;
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

/** Reads a range, over several of DynamoDB's 1 MB pages if necessary. */
async function query<Item>(
  schema: z.ZodMiniType<Item>,
  range: Range,
): Promise<{ readonly rows: Row<Item>[]; readonly unreadable: readonly UnreadableRecordError[] }> {
  const rows: Row<Item>[] = [];
  const unreadable: UnreadableRecordError[] = [];
  const parameters = queryParameters(range);
  while (rows.length < range.limit) {
    const page = await client.send(new QueryCommand({ ...parameters, Limit: range.limit - rows.length }));
    for (const found of page.Items ?? []) {
      const key = { pk: String(found["pk"]), sk: String(found["sk"]) };
      const result = schema.safeParse(found);
      if (!result.success) unreadable.push(new UnreadableRecordError(key, result.error));
      rows.push({ key, item: result.data });
    }
    if (page.LastEvaluatedKey === undefined) break;
    parameters.ExclusiveStartKey = page.LastEvaluatedKey;
  }
  return { rows, unreadable };
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
  };
}

/** How often a transaction is tried when it meets another one on the same items. */
const transactionAttempts = 6;
const maxTransactionDelayMs = 1_000;

/** The reason why a transaction was rejected: the condition of a write failed on this item, or because there was none. */
interface Refusal {
  readonly found: Record<string, unknown> | undefined;
}

interface Committed {
  readonly outcome: "committed";
}

/** Nothing was written, because conditions failed: the first failure of each name. */
interface Rejected<Name extends string> {
  readonly outcome: "rejected";
  readonly rejections: Readonly<Partial<Record<Name, Refusal>>>;
}

/** Nothing was written: it met other transactions, or a full partition, in each attempt. None of its conditions failed. */
interface Contended {
  readonly outcome: "contended";
}

/**
 * Writes all or nothing.
 * @throws ApiError UNAVAILABLE when it only met other transactions: nothing was written, and a retry may succeed
 */
export async function transact(writes: readonly Write[]): Promise<Committed | Rejected<never>>;
export async function transact<Name extends string>(
  writes: NamedWrites<Name>,
): Promise<Committed | Rejected<Name>>;
export async function transact(
  writes: NamedWrites<string> | readonly Write[],
): Promise<Committed | Rejected<string>> {
  const result = await tryTransact(isList(writes) ? { all: writes } : writes);
  if (result.outcome === "contended") throw new ApiError("UNAVAILABLE");
  return result;
}

function isList(writes: NamedWrites<string> | readonly Write[]): writes is readonly Write[] {
  return Array.isArray(writes);
}

/** Writes all or nothing, and returns `contended` when it only met other transactions. */
export async function tryTransact<Name extends string>(
  writes: NamedWrites<Name>,
  attempts = transactionAttempts,
): Promise<Committed | Contended | Rejected<Name>> {
  const named = listOf(writes);
  const command: TransactWriteCommandInput = {
    // The client repeats an attempt whose response was lost. With the token DynamoDB applies it once.
    ClientRequestToken: randomUUID(),
    TransactItems: named.map(({ write }) => transactItem(write)),
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.send(new TransactWriteCommand(command));
      return { outcome: "committed" };
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw error;
      const reasons = error.CancellationReasons ?? [];
      if (reasons.some(({ Code }) => Code === "ConditionalCheckFailed")) {
        return { outcome: "rejected", rejections: rejectionsOf(named, reasons) };
      }
      if (!reasons.some(isPassing)) throw error;
      if (attempt >= attempts) return { outcome: "contended" };
      await delay(Math.random() * Math.min(maxTransactionDelayMs, 20 * 2 ** attempt));
    }
  }
}

/** How often a decision is repeated when another write changes the state that it is based on. */
const decisionAttempts = 5;

/**
 * Reads, decides and writes, and repeats this after another write in between.
 * @param decide returns undefined when another write in between caused the rejection of its own
 * @throws ApiError UNAVAILABLE when that happened every time
 */
export async function untilUndisturbed<Result>(decide: () => Promise<Result | undefined>): Promise<Result> {
  for (let attempt = 1; attempt <= decisionAttempts; attempt += 1) {
    const result = await decide();
    if (result !== undefined) return result;
  }
  throw new ApiError("UNAVAILABLE");
}

interface NamedWrite<Name extends string> {
  readonly name: Name;
  readonly write: Write;
}

function listOf<Name extends string>(writes: NamedWrites<Name>): NamedWrite<Name>[] {
  const named: NamedWrite<Name>[] = [];
  for (const name in writes) {
    for (const write of [writes[name]].flat()) named.push({ name, write });
  }
  return named;
}

function rejectionsOf<Name extends string>(
  named: readonly NamedWrite<Name>[],
  reasons: readonly CancellationReason[],
): Rejected<Name>["rejections"] {
  const rejections: Partial<Record<Name, Refusal>> = {};
  for (const [index, { name }] of named.entries()) {
    const reason = reasons[index];
    if (reason?.Code === "ConditionalCheckFailed") rejections[name] ??= { found: oldItem(reason) };
  }
  return rejections;
}

/** Whether a reason is temporary: nothing was written, and a later attempt may succeed. */
function isPassing({ Code }: CancellationReason): boolean {
  return (
    Code === "TransactionConflict" || Code === "ThrottlingError" || Code === "ProvisionedThroughputExceeded"
  );
}

function transactItem(write: Write): NonNullable<TransactWriteCommandInput["TransactItems"]>[number] {
  const returned = { ReturnValuesOnConditionCheckFailure: "ALL_OLD" } as const;
  if ("put" in write) return { Put: { ...putParameters(write), ...returned } };
  if ("delete" in write) {
    return {
      Delete: { TableName: config.tableName(), Key: write.delete, ...expressions(write), ...returned },
    };
  }
  if ("check" in write) {
    const { check: Key, condition } = write;
    return {
      ConditionCheck: {
        TableName: config.tableName(),
        Key: { ...Key },
        ...expressions(write),
        ConditionExpression: condition,
        ...returned,
      },
    };
  }
  return { Update: { ...updateParameters(write), ...returned } };
}

function putParameters(put: Put): {
  TableName: string;
  Item: Record<string, unknown>;
} & ReturnType<typeof expressions> {
  return { TableName: config.tableName(), Item: put.put, ...expressions(put) };
}

function updateParameters(update: Update): {
  TableName: string;
  Key: Record<string, unknown>;
  UpdateExpression: string;
} & ReturnType<typeof expressions> {
  return {
    TableName: config.tableName(),
    Key: { ...update.key },
    UpdateExpression: update.update,
    ...expressions(update),
  };
}

function expressions({ condition, names, values }: Expressions): {
  ConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Record<string, unknown>;
} {
  return {
    ...(condition === undefined ? {} : { ConditionExpression: condition }),
    ...(names === undefined ? {} : { ExpressionAttributeNames: names }),
    ...(values === undefined ? {} : { ExpressionAttributeValues: values }),
  };
}

function oldItem(failure: {
  Item?: Parameters<typeof unmarshall>[0] | undefined;
}): Record<string, unknown> | undefined {
  return failure.Item === undefined ? undefined : unmarshall(failure.Item);
}
