import { compareNumbers, normalizeNumber, numberSize } from "./decimal.ts";
import { invalidParameter, ServiceError, validationError } from "./service-error.ts";

/** A value in DynamoDB's wire format: an object with one field, whose name is the type. */
export type AttributeValue =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly B: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: true }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly string[] }
  | { readonly L: readonly AttributeValue[] }
  | { readonly M: Item };

/** Attributes by their names. Stored items are immutable: an update works on a copy. */
export interface Item {
  readonly [name: string]: AttributeValue;
}

export type AttributeType = "B" | "BOOL" | "BS" | "L" | "M" | "N" | "NS" | "NULL" | "S" | "SS";
export type ScalarType = "B" | "N" | "S";

export const attributeTypes: readonly AttributeType[] = [
  "B",
  "BOOL",
  "BS",
  "L",
  "M",
  "N",
  "NS",
  "NULL",
  "S",
  "SS",
];

/** How deep lists and maps may be nested. */
const maxDepth = 32;

export function typeOf(value: AttributeValue): AttributeType {
  if ("S" in value) return "S";
  if ("N" in value) return "N";
  if ("BOOL" in value) return "BOOL";
  if ("M" in value) return "M";
  if ("L" in value) return "L";
  if ("SS" in value) return "SS";
  if ("NS" in value) return "NS";
  if ("NULL" in value) return "NULL";
  return "B" in value ? "B" : "BS";
}

/** Returns an item's own attribute, never a property of its prototype. */
export function attribute(item: Item, name: string): AttributeValue | undefined {
  return Object.hasOwn(item, name) ? item[name] : undefined;
}

/** Sets an attribute of a new item, under any name. */
export function setAttribute(
  item: Record<string, AttributeValue>,
  name: string,
  value: AttributeValue,
): void {
  if (name !== "__proto__") item[name] = value;
  else Object.defineProperty(item, name, { value, enumerable: true, configurable: true, writable: true });
}

/**
 * Checks an unknown object that should be an item.
 * @returns the same object if it is in DynamoDB's normal form, otherwise a copy in that form
 * @throws ServiceError for an invalid item
 */
export function readItem(input: Item, depth = 0): Item {
  let copy: Record<string, AttributeValue> | undefined;
  for (const name of Object.keys(input)) {
    const given = input[name];
    const value = readValue(given, depth);
    if (value === given) continue;
    copy ??= { ...input };
    setAttribute(copy, name, value);
  }
  return copy ?? input;
}

/**
 * Checks an unknown value that should be an attribute value.
 * @returns the same object if it is in DynamoDB's normal form, otherwise a copy in that form
 * @throws ServiceError for an invalid value
 */
export function readValue(given: AttributeValue | undefined, depth = 0): AttributeValue {
  if (!isObject(given)) throw unexpected("an attribute value was expected");
  if (depth > maxDepth) {
    throw validationError(
      "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit",
    );
  }
  const types = Object.keys(given);
  if (types.length !== 1) {
    throw validationError(
      `Supplied AttributeValue ${types.length === 0 ? "is empty" : "has more than one datatypes set"}, ` +
        "must contain exactly one of the supported datatypes",
    );
  }
  if ("S" in given) return isString(given.S) ? given : fail("a string was expected");
  if ("N" in given) {
    if (!isString(given.N)) throw unexpected("a number in a string was expected");
    const number = normalizeNumber(given.N);
    return number === given.N ? given : { N: number };
  }
  if ("BOOL" in given) return typeof given.BOOL === "boolean" ? given : fail("a Boolean was expected");
  if ("NULL" in given) {
    if (isTrue(given.NULL)) return given;
    throw invalidParameter("Null attribute value types must have the value of true");
  }
  if ("M" in given) {
    if (!isObject(given.M)) throw unexpected("a map of attributes was expected");
    const map = readItem(given.M, depth + 1);
    return map === given.M ? given : { M: map };
  }
  if ("L" in given) return readList(given, depth + 1);
  if ("B" in given) {
    checkBase64(given.B);
    return given;
  }
  if ("SS" in given) return { SS: readSet(given.SS, "An string set  may not be empty", (member) => member) };
  if ("NS" in given) return { NS: readSet(given.NS, "An number set  may not be empty", normalizeNumber) };
  if ("BS" in given) return { BS: readSet(given.BS, "Binary sets should not be empty", checkBase64) };
  throw validationError(
    "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
  );
}

function readList(given: { readonly L: readonly AttributeValue[] }, depth: number): AttributeValue {
  if (!Array.isArray(given.L)) throw unexpected("a list was expected");
  const values = given.L.map((each) => readValue(each, depth));
  return values.every((value, index) => value === given.L[index]) ? given : { L: values };
}

function readSet(
  given: readonly string[],
  whenEmpty: string,
  read: (member: string) => string,
): readonly string[] {
  if (!Array.isArray(given) || !given.every(isString)) throw unexpected("a list of strings was expected");
  if (given.length === 0) throw invalidParameter(whenEmpty);
  const members = given.map(read);
  if (new Set(members).size < members.length) {
    throw invalidParameter(`Input collection [${given.join(", ")}] contains duplicates.`);
  }
  return members;
}

function checkBase64(given: string): string {
  if (!isString(given) || Buffer.from(given, "base64").toString("base64") !== given) {
    throw unexpected("Base64 was expected");
  }
  return given;
}

function unexpected(message: string): Error {
  return new ServiceError("SerializationException", `Unexpected value: ${message}`);
}

function fail(message: string): never {
  throw unexpected(message);
}

function isString(given: unknown): boolean {
  return typeof given === "string";
}

function isTrue(given: unknown): boolean {
  return given === true;
}

function isObject<Given>(given: Given | undefined): given is Given {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

/** Whether two values have the same type and are equal, sets in any order of their members. */
export function isEqual(one: AttributeValue, other: AttributeValue): boolean {
  if ("S" in one) return "S" in other && one.S === other.S;
  if ("N" in one) return "N" in other && one.N === other.N;
  if ("BOOL" in one) return "BOOL" in other && one.BOOL === other.BOOL;
  if ("B" in one) return "B" in other && one.B === other.B;
  if ("NULL" in one) return "NULL" in other;
  if ("SS" in one) return "SS" in other && isSameSet(one.SS, other.SS);
  if ("NS" in one) return "NS" in other && isSameSet(one.NS, other.NS);
  if ("BS" in one) return "BS" in other && isSameSet(one.BS, other.BS);
  if ("L" in one) {
    return (
      "L" in other &&
      one.L.length === other.L.length &&
      one.L.every((value, index) => isEqualOrAbsent(value, other.L[index]))
    );
  }
  if (!("M" in other)) return false;
  const names = Object.keys(one.M);
  return (
    names.length === Object.keys(other.M).length &&
    names.every((name) => isEqualOrAbsent(attribute(one.M, name), attribute(other.M, name)))
  );
}

function isEqualOrAbsent(one: AttributeValue | undefined, other: AttributeValue | undefined): boolean {
  return one === undefined || other === undefined ? one === other : isEqual(one, other);
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && new Set(one).isSubsetOf(new Set(other));
}

/**
 * Compares two values of one ordered type: strings by their UTF-8 bytes, numbers, or bytes.
 * @returns less than 0, 0 or more than 0; undefined for values without an order
 */
export function compareValues(one: AttributeValue, other: AttributeValue): number | undefined {
  if ("S" in one) return "S" in other ? Buffer.compare(Buffer.from(one.S), Buffer.from(other.S)) : undefined;
  if ("N" in one) return "N" in other ? compareNumbers(one.N, other.N) : undefined;
  if ("B" in one && "B" in other) {
    return Buffer.compare(Buffer.from(one.B, "base64"), Buffer.from(other.B, "base64"));
  }
  return undefined;
}

/** Returns the size of an item in bytes, by DynamoDB's rules for limits and capacity. */
export function itemSize(item: Item): number {
  let size = 0;
  for (const name of Object.keys(item)) {
    const value = item[name];
    if (value !== undefined) size += Buffer.byteLength(name) + valueSize(value);
  }
  return size;
}

const containerSize = 3;

function valueSize(value: AttributeValue): number {
  if ("S" in value) return Buffer.byteLength(value.S);
  if ("N" in value) return numberSize(value.N);
  if ("B" in value) return Buffer.byteLength(value.B, "base64");
  if ("BOOL" in value || "NULL" in value) return 1;
  if ("SS" in value) return sum(value.SS, (member) => Buffer.byteLength(member));
  if ("NS" in value) return sum(value.NS, numberSize);
  if ("BS" in value) return sum(value.BS, (member) => Buffer.byteLength(member, "base64"));
  if ("L" in value) return containerSize + sum(value.L, (each) => valueSize(each) + 1);
  return containerSize + itemSize(value.M) + Object.keys(value.M).length;
}

function sum<Each>(values: readonly Each[], sizeOf: (each: Each) => number): number {
  return values.reduce((total, each) => total + sizeOf(each), 0);
}
