import type { AttributeValue, Item } from "../attribute-values.ts";
import { addNumbers, negateNumber } from "../decimal.ts";
import { invalidParameter, validationError } from "../service-error.ts";
import { changedItem } from "./changed-item.ts";
import { checkOverlaps } from "./overlaps.ts";
import { resolvedPath, valueAt, valueOf, type Placeholders } from "./placeholders.ts";
import type { Path } from "./token-reader.ts";
import type { Action, NewValue } from "./updates.ts";

/**
 * Returns the paths that an update changes, with resolved placeholders.
 * @param keys the names of the attributes of the item's key, which an update cannot change
 * @throws ServiceError for an attribute of the key, and for overlapping paths
 */
export function changedPaths(
  actions: readonly Action[],
  placeholders: Placeholders,
  keys: readonly string[],
): readonly Path[] {
  const paths = actions.map(({ path }) => resolvedPath(path, placeholders));
  checkOverlaps("UpdateExpression", paths);
  for (const [name] of paths) {
    if (!keys.includes(name)) continue;
    throw invalidParameter(`Cannot update attribute ${name}. This attribute is part of the key`);
  }
  return paths;
}

/**
 * Applies an update to a copy of an item. All operands are values before the update.
 * @param paths the resolved paths of its actions
 * @throws ServiceError when the item does not allow the update
 */
export function applyUpdate(
  item: Item,
  actions: readonly Action[],
  paths: readonly Path[],
  placeholders: Placeholders,
): Item {
  return changedItem(
    item,
    paths,
    actions.map((action) => result(item, action, placeholders)),
  );
}

/** Returns the new value at the path of an action, undefined for none. */
function result(item: Item, action: Action, placeholders: Placeholders): AttributeValue | undefined {
  switch (action.type) {
    case "set":
      return newValue(item, action.value, placeholders);
    case "remove":
      return undefined;
    case "add":
      return added(valueAt(item, action.path, placeholders), valueOf(action.value, placeholders.values));
    case "delete":
      return without(valueAt(item, action.path, placeholders), valueOf(action.value, placeholders.values));
  }
}

function newValue(item: Item, value: NewValue, placeholders: Placeholders): AttributeValue {
  switch (value.type) {
    case "value":
      return valueOf(value.value, placeholders.values);
    case "path": {
      const found = valueAt(item, value.path, placeholders);
      if (found === undefined) {
        throw validationError(
          "The provided expression refers to an attribute that does not exist in the item",
        );
      }
      return found;
    }
    case "default":
      return valueAt(item, value.path, placeholders) ?? newValue(item, value.otherwise, placeholders);
    case "append": {
      const left = newValue(item, value.left, placeholders);
      const right = newValue(item, value.right, placeholders);
      if (!("L" in left) || !("L" in right)) throw wrongOperand();
      return { L: [...left.L, ...right.L] };
    }
    case "sum": {
      const left = newValue(item, value.left, placeholders);
      const right = newValue(item, value.right, placeholders);
      if (!("N" in left) || !("N" in right)) throw wrongOperand();
      return { N: addNumbers(left.N, value.sign === "+" ? right.N : negateNumber(right.N)) };
    }
  }
}

/** Returns the sum of a number and its increment, or a set with additional members. */
function added(present: AttributeValue | undefined, value: AttributeValue): AttributeValue {
  if (present === undefined) return value;
  if ("N" in present && "N" in value) return { N: addNumbers(present.N, value.N) };
  if ("SS" in present && "SS" in value) return { SS: union(present.SS, value.SS) };
  if ("NS" in present && "NS" in value) return { NS: union(present.NS, value.NS) };
  if ("BS" in present && "BS" in value) return { BS: union(present.BS, value.BS) };
  throw wrongOperand();
}

/** Returns a set without some members; undefined when none remain, because no set is empty. */
function without(present: AttributeValue | undefined, value: AttributeValue): AttributeValue | undefined {
  if (present === undefined) return undefined;
  if ("SS" in present && "SS" in value) return setOf("SS", difference(present.SS, value.SS));
  if ("NS" in present && "NS" in value) return setOf("NS", difference(present.NS, value.NS));
  if ("BS" in present && "BS" in value) return setOf("BS", difference(present.BS, value.BS));
  throw wrongOperand();
}

function setOf(type: "BS" | "NS" | "SS", members: readonly string[]): AttributeValue | undefined {
  if (members.length === 0) return undefined;
  return type === "SS" ? { SS: members } : type === "NS" ? { NS: members } : { BS: members };
}

function union(one: readonly string[], other: readonly string[]): string[] {
  return [...new Set([...one, ...other])];
}

function difference(one: readonly string[], other: readonly string[]): string[] {
  return one.filter((member) => !other.includes(member));
}

function wrongOperand(): Error {
  return validationError("An operand in the update expression has an incorrect data type");
}
