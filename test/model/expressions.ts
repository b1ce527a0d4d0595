import { isDeepStrictEqual } from "node:util";

/*
 * The part of DynamoDB's expression language that the project uses, on plain objects. It is here, and not an
 * emulator, because a model run makes hundreds of calls and there are a hundred thousand runs.
 */

export type Item = Record<string, unknown>;

interface Context {
  readonly item: Item | undefined;
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>>;
}

class Tokens {
  readonly #tokens: readonly string[];
  #position = 0;

  constructor(expression: string) {
    this.#tokens = expression.match(/[A-Za-z_][\w]*|[#:]\w+|<=|>=|<>|[=<>(),+-]/g) ?? [];
  }

  peek(): string | undefined {
    return this.#tokens[this.#position];
  }

  take(): string {
    const token = this.#tokens[this.#position];
    if (token === undefined) throw new Error("the expression ends too early");
    this.#position += 1;
    return token;
  }

  takeIf(token: string): boolean {
    if (this.peek() !== token) return false;
    this.#position += 1;
    return true;
  }

  expect(token: string): void {
    const found = this.take();
    if (found !== token) throw new Error(`expected ${token} and found ${found}`);
  }
}

/** Whether an item, or its absence, meets a condition expression. */
export function fulfils(expression: string | undefined, context: Context): boolean {
  if (expression === undefined) return true;
  const tokens = new Tokens(expression);
  const result = disjunction(tokens, context);
  if (tokens.peek() !== undefined) throw new Error(`cannot read ${expression}`);
  return result;
}

function disjunction(tokens: Tokens, context: Context): boolean {
  let result = conjunction(tokens, context);
  while (tokens.takeIf("OR")) {
    const right = conjunction(tokens, context);
    result ||= right;
  }
  return result;
}

function conjunction(tokens: Tokens, context: Context): boolean {
  let result = test(tokens, context);
  while (tokens.takeIf("AND")) {
    const right = test(tokens, context);
    result &&= right;
  }
  return result;
}

function test(tokens: Tokens, context: Context): boolean {
  if (tokens.takeIf("(")) {
    const result = disjunction(tokens, context);
    tokens.expect(")");
    return result;
  }
  const first = tokens.take();
  if (first === "attribute_exists" || first === "attribute_not_exists") {
    tokens.expect("(");
    const exists = operand(tokens.take(), context) !== undefined;
    tokens.expect(")");
    return first === "attribute_exists" ? exists : !exists;
  }
  const operator = tokens.take();
  return compare(operand(first, context), operator, operand(tokens.take(), context));
}

function compare(left: unknown, operator: string, right: unknown): boolean {
  // DynamoDB compares values of one type only; with an absent attribute every comparison fails.
  const isComparable = typeof left === typeof right && (typeof left === "number" || typeof left === "string");
  if (operator === "=") return left !== undefined && isDeepStrictEqual(left, right);
  if (!isComparable || (typeof right !== "number" && typeof right !== "string")) return false;
  if (typeof left !== "number" && typeof left !== "string") return false;
  switch (operator) {
    case "<":
      return left < right;
    case "<=":
      return left <= right;
    case ">":
      return left > right;
    case ">=":
      return left >= right;
    default:
      throw new Error(`unknown operator ${operator}`);
  }
}

function operand(token: string, { item, names, values }: Context): unknown {
  if (token.startsWith(":")) {
    if (!(token in values)) throw new Error(`${token} has no value`);
    return values[token];
  }
  return item?.[attributeName(token, names)];
}

function attributeName(token: string, names: Readonly<Record<string, string>>): string {
  if (!token.startsWith("#")) return token;
  const name = names[token];
  if (name === undefined) throw new Error(`${token} has no name`);
  return name;
}

/** Returns the item after an update expression. */
export function updated(expression: string, context: Context): Item {
  const before = context.item ?? {};
  const after: Item = { ...before };
  const tokens = new Tokens(expression);
  let section = "";
  while (tokens.peek() !== undefined) {
    const token = tokens.take();
    if (token === "SET" || token === "REMOVE" || token === "ADD") {
      section = token;
      continue;
    }
    if (token === ",") continue;
    const name = attributeName(token, context.names);
    if (section === "REMOVE") {
      delete after[name];
    } else if (section === "ADD") {
      after[name] = Number(before[name] ?? 0) + Number(operand(tokens.take(), context));
    } else {
      tokens.expect("=");
      after[name] = sum(tokens, { ...context, item: before });
    }
  }
  return after;
}

function sum(tokens: Tokens, context: Context): unknown {
  const first = tokens.take();
  if (first === "if_not_exists") {
    tokens.expect("(");
    const present = operand(tokens.take(), context);
    tokens.expect(",");
    const otherwise = operand(tokens.take(), context);
    tokens.expect(")");
    return present ?? otherwise;
  }
  const left = operand(first, context);
  if (tokens.takeIf("+")) return Number(left) + Number(operand(tokens.take(), context));
  if (tokens.takeIf("-")) return Number(left) - Number(operand(tokens.take(), context));
  return left;
}
