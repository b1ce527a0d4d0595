import { unmarshall } from "@aws-sdk/util-dynamodb";
import type * as z from "zod/mini";

import { dropDeadConnections } from "../aws/connections.ts";
import { DeleteCommand, PutCommand, UpdateCommand } from "../aws/dynamodb.ts";
import { isAwsError } from "../aws/errors.ts";
import { config } from "../config.ts";
import { bestEffortClient, client, singleEffectClient } from "./client.ts";
import type { EntityName, Readable, RecordOf } from "./entities.ts";
import {
  expressionsOf,
  type Patch,
  type Changes,
  type Requirements,
  type UntypedChanges,
  type UntypedRequirements,
} from "./expressions.ts";
import type { Key } from "./keys.ts";
import { parsed } from "./records.ts";
import { fromStored, toStored } from "./stored-names.ts";

declare const checked: unique symbol;

/** A write whose fields are those of its item. Only the functions below and those of `lease.ts` return one. */
interface Checked {
  readonly [checked]: true;
}

export interface Put<Name extends EntityName = EntityName> extends Checked {
  readonly put: Key<Name> & RecordOf<Name>;
  readonly requires?: UntypedRequirements;
}

export interface Update<Name extends EntityName = EntityName> extends Checked {
  readonly key: Key<Name>;
  readonly changes: UntypedChanges;
  readonly requires?: UntypedRequirements;
}

export interface Delete extends Checked {
  readonly delete: Key;
  readonly requires?: UntypedRequirements;
}

/** Requirements without a change. The transaction that contains them is rejected unless they hold. */
export interface Check extends Checked {
  readonly check: Key;
  readonly requires: UntypedRequirements;
}

export type Write = Check | Delete | Put | Update;

/** A write before its fields are checked, which only the table layer makes. */
export type Unchecked<Kind extends Write> = Omit<Kind, keyof Checked>;

/** Returns the write of an item, new or in place of another. */
export function putOf<Name extends EntityName>(
  key: Key<Name>,
  record: RecordOf<Name>,
  requires?: Requirements<Name>,
): Put<Name>;
export function putOf(key: Key, record: object, requires: UntypedRequirements = {}): object {
  return { put: { ...key, ...record }, requires };
}

/** Returns the write of an item that has no known schema: one that this release cannot read, and moves as it is. */
export function putUnchecked(key: Key, item: Readonly<Record<string, unknown>>): Put;
export function putUnchecked({ pk, sk }: Key, item: Readonly<Record<string, unknown>>): object {
  return { put: { ...item, pk, sk } };
}

/** Returns the write of a new item. It is rejected when the item exists. */
export function insertOf<Name extends EntityName>(key: Key<Name>, record: RecordOf<Name>): Put<Name> {
  return putOf(key, record, { absent: ["pk"] });
}

/**
 * Returns an update of one item. It makes a missing item, unless it requires `present: ["pk"]`.
 * @example updateOf(keys.wallet(organizationId), { add: { balanceMicros: -5 } }, { atLeast: { balanceMicros: 5 } })
 */
export function updateOf<Name extends EntityName>(
  key: Key<Name>,
  changes: Changes<Name>,
  requires?: Requirements<Name>,
): Update<Name>;
export function updateOf(
  key: Key,
  changes: UntypedChanges,
  requires: UntypedRequirements = {},
): Unchecked<Update> {
  return { key, changes, requires };
}

/** Returns the deletion of one item. Without requirements, the deletion of a missing item does nothing. */
export function deleteOf<Name extends EntityName>(key: Key<Name>, requires?: Requirements<Name>): Delete;
export function deleteOf(key: Key, requires: UntypedRequirements = {}): Unchecked<Delete> {
  return { delete: key, requires };
}

/** Returns a check of one item. */
export function checkOf<Name extends EntityName>(key: Key<Name>, requires: Requirements<Name>): Check;
export function checkOf(key: Key, requires: UntypedRequirements): Unchecked<Check> {
  return { check: key, requires };
}

/**
 * Returns the changes of a PATCH: a field that is undefined stays as it is, one that is null is removed. Because nothing else
 * is written, concurrent changes of other fields are kept.
 */
export function changesOfPatch<Name extends EntityName>(fields: Patch<Name>): Changes<Name>;
export function changesOfPatch(fields: object): UntypedChanges {
  const given = Object.entries(fields);
  return {
    set: Object.fromEntries(given.filter(([, value]) => value !== null)),
    remove: given.filter(([, value]) => value === null).map(([field]) => field),
  };
}

/** The outcome of a conditional write. A rejected write carries the item that was there, if any. */
export type Outcome<Applied> =
  | { readonly applied: true; readonly item: Applied }
  | { readonly applied: false; readonly found: Record<string, unknown> | undefined };

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
export async function updateItem<Name extends EntityName, Item>(
  schema: z.ZodMiniType<Item>,
  update: Update<Name> & Readable<Name, Item>,
  { singleEffect = false, bestEffort = false, isOwn }: UpdateOptions<Item> = {},
): Promise<Outcome<Item>> {
  const dynamodb = bestEffort ? bestEffortClient : singleEffect ? singleEffectClient : client;
  if (bestEffort || singleEffect) dropDeadConnections();
  const outcome = await outcomeOf(async () => {
    const { Attributes } = await dynamodb.send(
      new UpdateCommand({ Key: { ...update.key }, ...parametersOf(update), ReturnValues: "ALL_NEW" }),
    );
    return parsed(schema, update.key, fromStored(Attributes ?? {}));
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
  const item: Record<string, unknown> = { ...put.put };
  const outcome = await outcomeOf(async () => {
    await client.send(new PutCommand({ Item: toStored(item), ...parametersOf(put) }));
    return item;
  });
  return recognized((found) => found, outcome, isOwn);
}

/**
 * Deletes one item. Without requirements, the deletion of a missing item does nothing.
 * @throws ApiError UNAVAILABLE when the item was too busy in every attempt
 */
export async function deleteItem<Name extends EntityName>(
  key: Key<Name>,
  requires: Requirements<Name> = {},
): Promise<Outcome<Key>> {
  return outcomeOf(async () => {
    await client.send(
      new DeleteCommand({
        Key: { ...key },
        ...parametersOf({ requires }),
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
    if (isAwsError(error, "ConditionalCheckFailedException"))
      return { applied: false, found: oldItem(error) };
    throw error;
  }
}

/** Returns the parameters of a write except its key or item. When it is rejected, it returns the item that was there. */
export function parametersOf({ changes = {}, requires = {} }: Partial<Pick<Update, "changes" | "requires">>) {
  return {
    TableName: config.tableName(),
    ...expressionsOf(changes, requires),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  } as const;
}

export function oldItem(failure: {
  Item?: Parameters<typeof unmarshall>[0] | undefined;
}): Record<string, unknown> | undefined {
  return failure.Item === undefined ? undefined : fromStored(unmarshall(failure.Item));
}
