import { attributeTypes, compareValues, type AttributeType } from "../attribute-values.ts";
import { cachedParser } from "./parser-cache.ts";
import {
  distinctCheck,
  parsed,
  typeCheck,
  valueOf,
  wrongType,
  type Check,
  type Parsed,
} from "./placeholders.ts";
import { TokenReader, type ExpressionKind, type Path } from "./token-reader.ts";

const comparators = {
  "<": (order: number) => order < 0,
  "<=": (order: number) => order <= 0,
  "<>": (order: number) => order !== 0,
  "=": (order: number) => order === 0,
  ">": (order: number) => order > 0,
  ">=": (order: number) => order >= 0,
};
export type Comparator = keyof typeof comparators;

/** Whether a comparator holds for two values whose order is below, at or above 0. */
export function holdsFor(comparator: Comparator, order: number): boolean {
  return comparators[comparator](order);
}

type PathOrValue =
  | { readonly type: "path"; readonly path: Path }
  | { readonly type: "value"; readonly value: string };
export type Operand = PathOrValue | { readonly type: "size"; readonly of: PathOrValue };

export type Condition =
  | { readonly type: "and" | "or"; readonly left: Condition; readonly right: Condition }
  | { readonly type: "between"; readonly operand: Operand; readonly from: Operand; readonly to: Operand }
  | {
      readonly type: "compare";
      readonly comparator: Comparator;
      readonly left: Operand;
      readonly right: Operand;
    }
  | { readonly type: "begins_with" | "contains"; readonly operand: Operand; readonly part: Operand }
  | { readonly type: "exists"; readonly path: Path }
  | { readonly type: "hasType"; readonly path: Path; readonly value: string }
  | { readonly type: "in"; readonly operand: Operand; readonly list: readonly Operand[] }
  | { readonly type: "not"; readonly condition: Condition };

const ordered: readonly AttributeType[] = ["S", "N", "B"];
const sized: readonly AttributeType[] = ["S", "B", "SS", "NS", "BS", "L", "M"];
const maxInOperands = 100;

/** Parses a condition, filter or key condition. @throws ServiceError for an invalid expression */
export const parseCondition = cachedParser((kind: ExpressionKind, text: string): Parsed<Condition> => {
  const parser = new ConditionParser(new TokenReader(kind, text));
  return parsed(parser.reader, parser.or(), parser.checks);
});

class ConditionParser {
  readonly reader: TokenReader;
  readonly checks: Check[] = [];
  /** The conditions inside parentheses. */
  readonly #inParentheses = new Set<Condition>();

  constructor(reader: TokenReader) {
    this.reader = reader;
  }

  or(): Condition {
    let left = this.#and();
    while (this.reader.take("OR")) {
      this.reader.countOperator();
      left = { type: "or", left, right: this.#and() };
    }
    return left;
  }

  #and(): Condition {
    let left = this.#not();
    while (this.reader.take("AND")) {
      this.reader.countOperator();
      left = { type: "and", left, right: this.#not() };
    }
    return left;
  }

  #not(): Condition {
    if (!this.reader.take("NOT")) return this.#single();
    this.reader.countOperator();
    return { type: "not", condition: this.#not() };
  }

  #single(): Condition {
    const { reader } = this;
    if (reader.take("(")) {
      reader.countOperator();
      const condition = this.or();
      reader.expect(")");
      if (this.#inParentheses.has(condition))
        throw reader.invalidExpression("The expression has redundant parentheses;");
      this.#inParentheses.add(condition);
      return condition;
    }
    const name = reader.peekFunction();
    return name === undefined || name === "size" ? this.#comparison() : this.#call(name);
  }

  #call(name: string): Condition {
    this.reader.openFunction();
    const condition = this.#calledCondition(name);
    this.reader.expect(")");
    return condition;
  }

  #calledCondition(name: string): Condition {
    const { reader } = this;
    switch (name) {
      case "attribute_exists":
        return { type: "exists", path: reader.path(name) };
      case "attribute_not_exists":
        return { type: "not", condition: { type: "exists", path: reader.path(name) } };
      case "attribute_type": {
        const path = reader.path(name);
        reader.expect(",");
        const value = reader.value();
        this.checks.push(typeCheck(value, name, ["S"]), typeNameCheck(value));
        return { type: "hasType", path, value };
      }
      case "begins_with":
      case "contains": {
        const operand = this.#operand();
        reader.expect(",");
        const part = this.#operand();
        if (name === "begins_with") this.#checkTypes(name, ["S", "B"], operand, part);
        this.#checkDistinct(name, operand, part);
        return { type: name, operand, part };
      }
      default:
        throw reader.invalidExpression(`Invalid function name; function: ${name}`);
    }
  }

  #comparison(): Condition {
    const { reader } = this;
    reader.countOperator();
    const left = this.#operand();
    if (reader.take("BETWEEN")) {
      const from = this.#operand();
      reader.expect("AND");
      const to = this.#operand();
      this.#checkTypes("BETWEEN", ordered, left, from, to);
      this.#checkDistinct("BETWEEN", left, from, to);
      this.checks.push(boundsCheck(from, to));
      return { type: "between", operand: left, from, to };
    }
    if (reader.take("IN")) {
      const list = this.#list();
      this.#checkDistinct("IN", left, ...list);
      return { type: "in", operand: left, list };
    }
    const comparator = reader.next();
    if (!isComparator(comparator)) throw reader.unexpected();
    const right = this.#operand();
    if (comparator !== "=" && comparator !== "<>") this.#checkTypes(comparator, ordered, left, right);
    this.#checkDistinct(comparator, left, right);
    return { type: "compare", comparator, left, right };
  }

  #list(): Operand[] {
    this.reader.expect("(");
    const list = [this.#operand()];
    while (this.reader.take(",")) list.push(this.#operand());
    this.reader.expect(")");
    if (list.length > maxInOperands) {
      throw this.reader.invalidExpression(
        `Incorrect number of operands for operator or function; operator or function: IN, number of operands: ${list.length + 1}`,
      );
    }
    return list;
  }

  #operand(): Operand {
    const { reader } = this;
    const name = reader.peekFunction();
    if (name === undefined) return this.#pathOrValue();
    if (name !== "size") throw reader.misplaced(name);
    reader.openFunction();
    const of = this.#pathOrValue();
    if (of.type === "value") this.checks.push(typeCheck(of.value, "size", sized));
    reader.expect(")");
    return { type: "size", of };
  }

  #pathOrValue(): PathOrValue {
    const { reader } = this;
    if (reader.isAtValue) return { type: "value", value: reader.value() };
    return { type: "path", path: reader.path() };
  }

  #checkTypes(operator: string, types: readonly AttributeType[], ...operands: readonly Operand[]): void {
    for (const operand of operands) {
      if (operand.type === "value") this.checks.push(typeCheck(operand.value, operator, types));
      else if (operand.type === "size" && !types.includes("N")) {
        throw this.reader.invalidExpression(wrongType(operator, "N"));
      }
    }
  }

  #checkDistinct(operator: string, first: Operand, ...others: readonly Operand[]): void {
    if (first.type !== "path") return;
    const paths = others.flatMap((other) => (other.type === "path" ? [other.path] : []));
    if (paths.length > 0) this.checks.push(distinctCheck(operator, first.path, paths));
  }
}

/** Checks that the bounds of BETWEEN have one type and are in order, if both are values of the expression. */
function boundsCheck(from: Operand, to: Operand): Check {
  return ({ values }) => {
    if (from.type !== "value" || to.type !== "value") return undefined;
    const [lower, upper] = [valueOf(from.value, values), valueOf(to.value, values)];
    const order = compareValues(lower, upper);
    if (order !== undefined && order <= 0) return undefined;
    const rule =
      order === undefined
        ? "same data type for lower and upper bounds"
        : "upper bound to be greater than or equal to lower bound";
    return (
      `The BETWEEN operator requires ${rule}; lower bound operand: AttributeValue: ${JSON.stringify(lower)}, ` +
      `upper bound operand: AttributeValue: ${JSON.stringify(upper)}`
    );
  };
}

function typeNameCheck(name: string): Check {
  return ({ values }) => {
    const value = valueOf(name, values);
    if (!("S" in value) || attributeTypes.some((type) => type === value.S)) return undefined;
    return `Invalid attribute type name found; type: ${value.S}, valid types: {${attributeTypes.join(",")}}`;
  };
}

function isComparator(text: string): text is Comparator {
  return Object.hasOwn(comparators, text);
}
