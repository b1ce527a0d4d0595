import { typeOf, type AttributeValue } from "../attribute-values.ts";
import { checkNotEmpty } from "../places.ts";
import { invalidParameter, validationError } from "../service-error.ts";
import type { KeyAttribute, KeyAttributes } from "../table-definitions.ts";
import type { Condition, Operand } from "./conditions.ts";
import { nameOf, valueOf, type Placeholders } from "./placeholders.ts";

/** A query's condition on the sort key. The bounds of `between` are inclusive. */
export type RangeCondition =
  | { readonly type: "between"; readonly from: AttributeValue; readonly to: AttributeValue }
  | {
      readonly type: "compare";
      readonly comparator: "<" | "<=" | "=" | ">" | ">=";
      readonly value: AttributeValue;
    }
  | { readonly type: "prefix"; readonly prefix: AttributeValue };

/** The part of a table or an index that a query reads. */
export interface KeyRange {
  readonly hash: AttributeValue;
  readonly range: RangeCondition | undefined;
}

/**
 * Returns the range of a key condition.
 * @throws ServiceError for other conditions than one on the partition key and at most one on the sort key
 */
export function keyRangeOf(tree: Condition, key: KeyAttributes, placeholders: Placeholders): KeyRange {
  const parts = new Map<string, Condition>();
  for (const part of conjuncts(tree)) {
    const name = attributeOf(part, placeholders);
    if (parts.has(name)) {
      throw validationError("KeyConditionExpressions must only contain one condition per key");
    }
    parts.set(name, part);
  }
  const hash = parts.get(key.hash.name);
  if (hash === undefined) throw missing(key.hash);
  if (hash.type !== "compare" || hash.comparator !== "=")
    throw validationError("Query key condition not supported");
  parts.delete(key.hash.name);
  const range = key.range === undefined ? undefined : parts.get(key.range.name);
  if (parts.size > (range === undefined ? 0 : 1)) {
    throw key.range === undefined || range !== undefined
      ? validationError("Query key condition not supported")
      : missing(key.range);
  }
  return {
    hash: valueFor(key.hash, hash.right, placeholders),
    range:
      key.range === undefined || range === undefined ? undefined : rangeOf(range, key.range, placeholders),
  };
}

function missing({ name }: KeyAttribute): Error {
  return validationError(`Query condition missed key schema element: ${name}`);
}

function conjuncts(tree: Condition): Condition[] {
  if (tree.type === "and") return [...conjuncts(tree.left), ...conjuncts(tree.right)];
  if (tree.type !== "compare" || tree.left.type !== "value") return [tree];
  // The value may be the left operand.
  return [{ ...tree, comparator: mirrored[tree.comparator], left: tree.right, right: tree.left }];
}

const mirrored = { "<": ">", "<=": ">=", "<>": "<>", "=": "=", ">": "<", ">=": "<=" } as const;

/** Returns the attribute that a part of the condition restricts. */
function attributeOf(part: Condition, placeholders: Placeholders): string {
  const operand = operandOf(part);
  if (operand.type !== "path") throw unsupported(`an operand of type ${operand.type}`);
  if (operand.path.length > 1) {
    throw validationError(
      "Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes",
    );
  }
  return nameOf(operand.path[0], placeholders);
}

function operandOf(part: Condition): Operand {
  if (part.type === "between" || part.type === "begins_with") return part.operand;
  if (part.type === "compare" && part.comparator !== "<>") return part.left;
  throw unsupported(part.type === "compare" ? "<>" : part.type.toUpperCase());
}

function unsupported(operator: string): Error {
  return validationError(`Invalid operator used in KeyConditionExpression: ${operator}`);
}

function rangeOf(part: Condition, key: KeyAttribute, placeholders: Placeholders): RangeCondition {
  const read = (operand: Operand): AttributeValue => valueFor(key, operand, placeholders);
  if (part.type === "begins_with") {
    if (key.type === "N") throw validationError("Query key condition not supported");
    return { type: "prefix", prefix: read(part.part) };
  }
  if (part.type === "between") {
    return { type: "between", from: read(part.from), to: read(part.to) };
  }
  if (part.type !== "compare" || part.comparator === "<>") throw unsupported(part.type);
  return { type: "compare", comparator: part.comparator, value: read(part.right) };
}

function valueFor(key: KeyAttribute, operand: Operand, placeholders: Placeholders): AttributeValue {
  if (operand.type !== "value") throw unsupported(`an operand of type ${operand.type}`);
  const value = valueOf(operand.value, placeholders.values);
  if (typeOf(value) !== key.type) {
    throw invalidParameter("Condition parameter type does not match schema type");
  }
  checkNotEmpty(value, key.name);
  return value;
}
