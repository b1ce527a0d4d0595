import { compareValues, isEqual, typeOf, type AttributeValue, type Item } from "../attribute-values.ts";
import { holdsFor, type Comparator, type Condition, type Operand } from "./conditions.ts";
import { valueAt, valueOf, type Placeholders } from "./placeholders.ts";

/** Evaluates a condition on an item, which is empty if none is stored. */
export function conditionHolds(item: Item, condition: Condition, placeholders: Placeholders): boolean {
  const read = (operand: Operand): AttributeValue | undefined => operandValue(item, operand, placeholders);
  switch (condition.type) {
    case "and":
      return (
        conditionHolds(item, condition.left, placeholders) &&
        conditionHolds(item, condition.right, placeholders)
      );
    case "or":
      return (
        conditionHolds(item, condition.left, placeholders) ||
        conditionHolds(item, condition.right, placeholders)
      );
    case "not":
      return !conditionHolds(item, condition.condition, placeholders);
    case "exists":
      return valueAt(item, condition.path, placeholders) !== undefined;
    case "compare":
      return comparisonHolds(condition.comparator, read(condition.left), read(condition.right));
    case "between": {
      const value = read(condition.operand);
      return (
        comparisonHolds(">=", value, read(condition.from)) && comparisonHolds("<=", value, read(condition.to))
      );
    }
    case "in": {
      const value = read(condition.operand);
      return condition.list.some((each) => comparisonHolds("=", value, read(each)));
    }
    case "hasType": {
      const value = valueAt(item, condition.path, placeholders);
      const type = valueOf(condition.value, placeholders.values);
      return value !== undefined && "S" in type && type.S === typeOf(value);
    }
    case "begins_with":
    case "contains": {
      const [value, part] = [read(condition.operand), read(condition.part)];
      if (value === undefined || part === undefined) return false;
      return condition.type === "contains" ? contains(value, part) : beginsWith(value, part);
    }
  }
}

function operandValue(item: Item, operand: Operand, placeholders: Placeholders): AttributeValue | undefined {
  if (operand.type === "value") return placeholders.values[operand.value];
  if (operand.type === "path") return valueAt(item, operand.path, placeholders);
  const value = operandValue(item, operand.of, placeholders);
  const size = value === undefined ? undefined : sizeOf(value);
  return size === undefined ? undefined : { N: String(size) };
}

function comparisonHolds(
  comparator: Comparator,
  left: AttributeValue | undefined,
  right: AttributeValue | undefined,
): boolean {
  if (comparator === "<>") return left === undefined || right === undefined || !isEqual(left, right);
  if (left === undefined || right === undefined) return false;
  if (comparator === "=") return isEqual(left, right);
  const order = compareValues(left, right);
  return order !== undefined && holdsFor(comparator, order);
}

/** Returns the length of a text in UTF-8 bytes, of binary data, and of sets, lists and maps. */
function sizeOf(value: AttributeValue): number | undefined {
  if ("S" in value) return Buffer.byteLength(value.S);
  if ("B" in value) return Buffer.byteLength(value.B, "base64");
  if ("SS" in value) return value.SS.length;
  if ("NS" in value) return value.NS.length;
  if ("BS" in value) return value.BS.length;
  if ("L" in value) return value.L.length;
  return "M" in value ? Object.keys(value.M).length : undefined;
}

function beginsWith(value: AttributeValue, part: AttributeValue): boolean {
  if ("S" in value) return "S" in part && value.S.startsWith(part.S);
  return "B" in value && "B" in part && bytesOf(value.B).indexOf(bytesOf(part.B)) === 0;
}

function contains(value: AttributeValue, part: AttributeValue): boolean {
  if ("S" in value) return "S" in part && value.S.includes(part.S);
  if ("B" in value) return "B" in part && bytesOf(value.B).includes(bytesOf(part.B));
  if ("SS" in value) return "S" in part && value.SS.includes(part.S);
  if ("NS" in value) return "N" in part && value.NS.includes(part.N);
  if ("BS" in value) return "B" in part && value.BS.includes(part.B);
  return "L" in value && value.L.some((each) => isEqual(each, part));
}

function bytesOf(base64: string): Buffer {
  return Buffer.from(base64, "base64");
}
