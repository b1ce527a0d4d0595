import { attribute, typeOf, type AttributeValue, type Item } from "./attribute-values.ts";
import { sortableNumber } from "./decimal.ts";
import { invalidParameter, validationError } from "./service-error.ts";
import type { Index, KeyAttribute, KeyAttributes, Table } from "./table-definitions.ts";

/** The value of a key in a form that SQLite sorts like DynamoDB: texts by UTF-8 bytes, numbers, or bytes. */
export type SortableKey = string | Uint8Array;

/** An item's place in its table or in an index. For a key of one attribute, the range is empty. */
export interface Place {
  readonly hash: SortableKey;
  readonly range: SortableKey;
}

const maxHashBytes = 2_048;
const maxRangeBytes = 1_024;

/**
 * Returns the place of an item, or of a key, in its table.
 * @throws ServiceError when an attribute of its key is missing, empty or of another type
 */
export function placeOf(item: Item, { hash, range }: KeyAttributes): Place {
  return {
    hash: sortable(keyValue(item, hash), maxHashBytes, "Size of hashkey has exceeded the maximum size limit"),
    range:
      range === undefined
        ? ""
        : sortable(
            keyValue(item, range),
            maxRangeBytes,
            "Aggregated size of all range keys has exceeded the size limit",
          ),
  };
}

function keyValue(item: Item, { name, type }: KeyAttribute): AttributeValue {
  const value = attribute(item, name);
  if (value === undefined) throw invalidParameter(`Missing the key ${name} in the item`);
  if (typeOf(value) !== type) {
    throw invalidParameter(`Type mismatch for key ${name} expected: ${type} actual: ${typeOf(value)}`);
  }
  checkNotEmpty(value, name);
  return value;
}

/** @throws ServiceError for an empty value, which no key can have */
export function checkNotEmpty(value: AttributeValue, name: string): void {
  if (!isEmpty(value)) return;
  throw validationError(
    "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty " +
      `${"S" in value ? "string" : "binary"} value. Key: ${name}`,
  );
}

/**
 * Returns the place of a key, which has the table's key attributes and no others.
 * @throws ServiceError for another key
 */
export function placeOfKey(key: Item, table: Table): Place {
  const { keyNames } = table;
  const fits = ({ name, type }: KeyAttribute): boolean => {
    const value = attribute(key, name);
    return value !== undefined && typeOf(value) === type;
  };
  const { hash, range } = table;
  if (Object.keys(key).length !== keyNames.length || !fits(hash) || (range !== undefined && !fits(range))) {
    throw validationError("The provided key element does not match the schema");
  }
  return placeOf(key, table);
}

/**
 * Returns the place of an item in an index; undefined for an item without the index's key.
 * @throws ServiceError when an attribute of the index's key is empty or of another type
 */
export function placeInIndex(item: Item, index: Index): Place | undefined {
  let isThere = true;
  for (const part of [index.hash, index.range]) {
    if (part === undefined) continue;
    const value = attribute(item, part.name);
    if (value === undefined) isThere = false;
    else checkIndexKey(value, part, index.definition.IndexName);
  }
  return isThere ? placeOf(item, index) : undefined;
}

function checkIndexKey(value: AttributeValue, { name, type }: KeyAttribute, indexName: string): void {
  if (typeOf(value) !== type) {
    throw invalidParameter(
      `Type mismatch for Index Key ${name} Expected: ${type} Actual: ${typeOf(value)} IndexName: ${indexName}`,
    );
  }
  if (isEmpty(value)) {
    throw validationError(
      "One or more parameter values are not valid. A value specified for a secondary index key is not supported. " +
        `The AttributeValue for a key attribute cannot contain an empty ${"S" in value ? "string" : "binary"} value. ` +
        `IndexName: ${indexName}, IndexKey: ${name}`,
    );
  }
}

function isEmpty(value: AttributeValue): boolean {
  return ("S" in value && value.S === "") || ("B" in value && value.B === "");
}

/** Returns the value of a key in sortable form. */
export function sortable(value: AttributeValue, maxBytes: number, whenTooLong: string): SortableKey {
  if ("N" in value) return sortableNumber(value.N);
  if ("B" in value) {
    const bytes = Buffer.from(value.B, "base64");
    if (bytes.length > maxBytes) throw invalidParameter(`${whenTooLong} of ${maxBytes} bytes`);
    return bytes;
  }
  if (!("S" in value)) throw new Error("a key cannot have this type");
  if (value.S.length * 3 > maxBytes && Buffer.byteLength(value.S) > maxBytes) {
    throw invalidParameter(`${whenTooLong} of ${maxBytes} bytes`);
  }
  return value.S;
}

/** Returns a text that identifies a place in a table. */
export function placeKey({ id }: Table, { hash, range }: Place): string {
  const text = (key: SortableKey): string =>
    typeof key === "string" ? key : Buffer.from(key).toString("hex");
  return JSON.stringify([id, text(hash), text(range)]);
}
