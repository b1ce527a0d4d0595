import { itemSize, readItem, type Item } from "./attribute-values.ts";
import { applyUpdate, changedPaths } from "./expressions/apply-update.ts";
import { parseCondition } from "./expressions/conditions.ts";
import { conditionHolds } from "./expressions/evaluate-condition.ts";
import { readPlaceholders, type Parsed, type Placeholders } from "./expressions/placeholders.ts";
import type { Path } from "./expressions/token-reader.ts";
import { parseUpdate, type Action } from "./expressions/updates.ts";
import { placeInIndex, placeOf, placeOfKey, type Place } from "./places.ts";
import type { StoredItem } from "./rows.ts";
import { validationError } from "./service-error.ts";
import type { Table } from "./table-definitions.ts";

/** DynamoDB's limit for an item. */
const maxItemBytes = 409_600;

/** A write that has passed all checks that need no stored item. */
export interface PlannedWrite {
  readonly table: Table;
  readonly place: Place;
  /** Whether the stored item meets the condition of the write. */
  readonly isAllowed: (old: Item | undefined) => boolean;
  /** Whether a failed condition returns the stored item. */
  readonly returnsItemOnFailure: boolean;
  /**
   * Computes the new item from the stored one.
   * @throws ServiceError when it cannot be applied to that
   */
  readonly apply: (old: Item | undefined) => Change;
}

export interface Change {
  /** Undefined after a deletion. */
  readonly item: Item | undefined;
  /** In bytes. */
  readonly size: number;
  /** The paths that an update has changed. */
  readonly paths: readonly Path[];
  /** Whether it is a condition check, which writes nothing. */
  readonly isCheck?: boolean;
}

/** The parameters of all conditional writes. */
interface Conditional {
  readonly ConditionExpression?: string | undefined;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
  readonly ExpressionAttributeValues?: Item | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: "ALL_OLD" | "NONE" | undefined;
}

/** @throws ServiceError for an item that the table cannot have */
export function planPut(table: Table, input: Conditional & { readonly Item: Item }): PlannedWrite {
  const item = readItem(input.Item);
  const place = placeOf(item, table);
  const size = checkedSize(table, item, "Item size has exceeded the maximum allowed size");
  return { table, place, ...conditionOf(input), apply: () => ({ item, size, paths: [] }) };
}

export function planDelete(table: Table, input: Conditional & { readonly Key: Item }): PlannedWrite {
  const place = placeOfKey(readItem(input.Key), table);
  return { table, place, ...conditionOf(input), apply: () => ({ item: undefined, size: 0, paths: [] }) };
}

export function planCheck(table: Table, input: Conditional & { readonly Key: Item }): PlannedWrite {
  const place = placeOfKey(readItem(input.Key), table);
  const apply = (item: Item | undefined): Change => ({ item, size: 0, paths: [], isCheck: true });
  return { table, place, ...conditionOf(input), apply };
}

export function planUpdate(
  table: Table,
  input: Conditional & { readonly Key: Item; readonly UpdateExpression?: string | undefined },
): PlannedWrite {
  const key = readItem(input.Key);
  const place = placeOfKey(key, table);
  const update: Parsed<readonly Action[]> | undefined =
    input.UpdateExpression === undefined
      ? undefined
      : parseUpdate("UpdateExpression", input.UpdateExpression);
  const { placeholders, ...condition } = conditionOf(input, update);
  const actions = update?.tree ?? [];
  const paths = changedPaths(actions, placeholders, table.keyNames);
  const apply = (old: Item | undefined): Change => {
    const item = applyUpdate(old ?? key, actions, paths, placeholders);
    const size = checkedSize(table, item, "Item size to update has exceeded the maximum allowed size");
    return { item, size, paths };
  };
  return { table, place, ...condition, apply };
}

function conditionOf(
  input: Conditional,
  update?: Parsed<unknown>,
): Pick<PlannedWrite, "isAllowed" | "returnsItemOnFailure"> & { readonly placeholders: Placeholders } {
  const { ConditionExpression: text } = input;
  const condition = text === undefined ? undefined : parseCondition("ConditionExpression", text);
  const placeholders = readPlaceholders(input, [update, condition]);
  return {
    placeholders,
    isAllowed: (old) => condition === undefined || conditionHolds(old ?? {}, condition.tree, placeholders),
    returnsItemOnFailure: input.ReturnValuesOnConditionCheckFailure === "ALL_OLD",
  };
}

/**
 * Returns the size of an item in bytes.
 * @throws ServiceError for an item that is too large, or with an invalid key for an index
 */
function checkedSize(table: Table, item: Item, whenTooLarge: string): number {
  const size = itemSize(item);
  if (size > maxItemBytes) throw validationError(whenTooLarge);
  for (const index of table.indexes) placeInIndex(item, index);
  return size;
}

/** Returns the additional field of a failed condition. */
export function itemOfFailure(
  { returnsItemOnFailure }: PlannedWrite,
  old: StoredItem | undefined,
): { Item?: Item } {
  return returnsItemOnFailure && old !== undefined ? { Item: old.item } : {};
}
