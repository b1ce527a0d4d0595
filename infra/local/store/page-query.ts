import type { SQLInputValue } from "node:sqlite";

import { attribute, typeOf, type AttributeValue, type Item } from "./attribute-values.ts";
import { holdsFor, type Comparator } from "./expressions/conditions.ts";
import type { KeyRange, RangeCondition } from "./expressions/key-conditions.ts";
import { placeOf, sortable, type SortableKey } from "./places.ts";
import { validationError } from "./service-error.ts";
import { namesOf, type Index, type Table } from "./table-definitions.ts";

/** The items that a read pages through. */
export interface Source {
  readonly table: Table;
  readonly index: Index | undefined;
  /** The partition and its range; undefined for all items. */
  readonly keyRange: KeyRange | undefined;
  readonly isAscending: boolean;
  /** The last key of the previous page, after which this page starts. */
  readonly startKey: Item | undefined;
}

export interface PageQuery {
  readonly sql: string;
  readonly parameters: readonly SQLInputValue[];
}

/** Stored keys have a maximum length; a longer one in a query matches no item. */
const noBound = Number.POSITIVE_INFINITY;

/**
 * Returns the SQL for the rows of a page and all later pages, in order, with `id`, `hash`, `item` and `size`.
 * @throws ServiceError for a start key outside the source
 */
export function pageQuery(source: Source): PageQuery {
  const { table, index, keyRange, isAscending, startKey } = source;
  const conditions = [index === undefined ? "e.table_id = ?" : "e.index_id = ?"];
  const parameters: SQLInputValue[] = [index === undefined ? table.id : index.id];
  if (keyRange !== undefined) {
    conditions.push("e.hash = ?");
    parameters.push(sortableKey(keyRange.hash));
    if (keyRange.range !== undefined) {
      for (const { comparator, key } of boundsOf(keyRange.range)) {
        conditions.push(`e.range ${comparator} ?`);
        parameters.push(key);
      }
    }
  }
  const order = [
    ...(keyRange === undefined ? ["e.hash"] : []),
    "e.range",
    ...(index === undefined ? [] : ["e.item_hash", "e.item_range"]),
  ];
  if (startKey !== undefined) {
    const start = startOf(source, startKey);
    conditions.push(`(${order.join(", ")}) ${isAscending ? ">" : "<"} (${order.map(() => "?").join(", ")})`);
    parameters.push(...start.slice(-order.length));
  }
  const from =
    index === undefined
      ? "SELECT e.id, e.hash, e.item, e.size FROM items e"
      : // CROSS JOIN keeps this order of the tables: first the entries, then the item of each.
        "SELECT i.id, e.hash, i.item, i.size FROM entries e CROSS JOIN items i ON i.id = e.item_id";
  const direction = isAscending ? "" : " DESC";
  const sql = `${from} WHERE ${conditions.join(" AND ")} ORDER BY ${order.map((each) => each + direction).join(", ")}`;
  return { sql, parameters };
}

interface Bound {
  readonly comparator: Comparator;
  readonly key: SortableKey;
}

/** Returns the bounds between which the range attribute of an item has to be. */
function boundsOf(range: RangeCondition): Bound[] {
  switch (range.type) {
    case "compare":
      return [{ comparator: range.comparator, key: sortableKey(range.value) }];
    case "between":
      return [
        { comparator: ">=", key: sortableKey(range.from) },
        { comparator: "<=", key: sortableKey(range.to) },
      ];
    case "prefix": {
      const prefix = sortableKey(range.prefix);
      const end = endOfPrefix(prefix);
      return [
        { comparator: ">=", key: prefix },
        ...(end === undefined ? [] : [{ comparator: "<", key: end } as const]),
      ];
    }
  }
}

function sortableKey(value: AttributeValue): SortableKey {
  return sortable(value, noBound, "");
}

/** Returns the first key that sorts after all keys with a prefix, if there is one. */
function endOfPrefix(prefix: SortableKey): SortableKey | undefined {
  if (typeof prefix !== "string") {
    const bytes = [...prefix];
    while (bytes.at(-1) === 0xff) bytes.pop();
    const last = bytes.pop();
    return last === undefined ? undefined : Buffer.from([...bytes, last + 1]);
  }
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === lastCodePoint) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  // Surrogates are no characters.
  return String.fromCodePoint(...points, last + 1 === firstSurrogate ? lastSurrogate + 1 : last + 1);
}

const lastCodePoint = 0x10ffff;
const firstSurrogate = 0xd800;
const lastSurrogate = 0xdfff;

/** Returns the start key's values for the columns of the order. */
function startOf({ table, index, keyRange }: Source, startKey: Item): SortableKey[] {
  const keys = index === undefined ? [table] : [index, table];
  const names = new Set(keys.flatMap(namesOf));
  const fits = keys
    .flatMap(({ hash, range }) => (range === undefined ? [hash] : [hash, range]))
    .every(({ name, type }) => {
      const value = attribute(startKey, name);
      return value !== undefined && typeOf(value) === type;
    });
  if (!fits || Object.keys(startKey).length !== names.size) {
    throw validationError(
      "The provided starting key is invalid: The provided key element does not match the schema",
    );
  }
  const places = keys.map((key) => placeOf(startKey, key));
  const [first] = places;
  if (keyRange !== undefined && first !== undefined) checkStart(keyRange, first);
  return places.flatMap(({ hash, range }) => [hash, range]);
}

/** @throws ServiceError for a start key outside the range of the read */
function checkStart({ hash, range }: KeyRange, start: { hash: SortableKey; range: SortableKey }): void {
  if (compareKeys(sortableKey(hash), start.hash) !== 0) {
    throw validationError(
      "The provided starting key is outside query boundaries based on provided conditions",
    );
  }
  const bounds = range === undefined ? [] : boundsOf(range);
  if (!bounds.every(({ comparator, key }) => holdsFor(comparator, compareKeys(start.range, key)))) {
    throw validationError("The provided starting key does not match the range key predicate");
  }
}

function compareKeys(one: SortableKey, other: SortableKey): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
