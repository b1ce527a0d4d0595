import {
  attribute,
  readValue,
  type AttributeType,
  type AttributeValue,
  type Item,
  typeOf,
} from "../attribute-values.ts";
import { validationError } from "../service-error.ts";
import type { ExpressionKind, Path, TokenReader } from "./token-reader.ts";

/** The names and values of the placeholders in a request's expressions. */
export interface Placeholders {
  readonly names: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, AttributeValue>>;
}

/** Checks an expression against the values of its placeholders. @returns the problem, if there is one */
export type Check = (placeholders: Placeholders) => string | undefined;

/** A parsed expression with the placeholders that it uses. */
export interface Parsed<Tree> {
  readonly kind: ExpressionKind;
  readonly tree: Tree;
  readonly names: readonly string[];
  readonly values: readonly string[];
  readonly checks: readonly Check[];
}

/** Returns the result of parsing, with the placeholders that the reader has found. */
export function parsed<Tree>(reader: TokenReader, tree: Tree, checks: readonly Check[] = []): Parsed<Tree> {
  reader.expectEnd();
  return { kind: reader.kind, tree, names: [...reader.names], values: [...reader.values], checks };
}

/** Checks that an operator supports the type of a value. */
export function typeCheck(name: string, operator: string, types: readonly AttributeType[]): Check {
  return ({ values }) => {
    const type = typeOf(valueOf(name, values));
    return types.includes(type) ? undefined : wrongType(operator, type);
  };
}

/** Checks that an operand is not the same path as another one. */
export function distinctCheck(operator: string, first: Path, others: readonly Path[]): Check {
  return (placeholders) => {
    const text = pathText(resolvedPath(first, placeholders));
    if (!others.some((other) => pathText(resolvedPath(other, placeholders)) === text)) return undefined;
    return (
      "The first operand must be distinct from the remaining operands for this operator or function; " +
      `operator: ${operator}, first operand: ${text}`
    );
  };
}

export function wrongType(operator: string, type: AttributeType): string {
  return `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`;
}

/**
 * Reads the placeholders of a request.
 * @throws ServiceError when one is undefined, unused, or has an unsupported type of value
 */
export function readPlaceholders(
  {
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  }: {
    readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined;
    readonly ExpressionAttributeValues?: Item | undefined;
  },
  expressions: readonly (Parsed<unknown> | undefined)[],
): Placeholders {
  const present = expressions.filter((each) => each !== undefined);
  const read: Record<string, AttributeValue> = {};
  checkGiven("ExpressionAttributeNames", "#", names, present);
  checkGiven("ExpressionAttributeValues", ":", values, present);
  for (const [name, value] of Object.entries(values ?? {})) read[name] = readGiven(name, value);
  const placeholders = { names: names ?? {}, values: read };
  for (const expression of present) checkDefined(expression, placeholders);
  checkUsed("ExpressionAttributeNames", names, (name) => present.some((each) => each.names.includes(name)));
  checkUsed("ExpressionAttributeValues", values, (name) =>
    present.some((each) => each.values.includes(name)),
  );
  return placeholders;
}

function readGiven(name: string, value: AttributeValue): AttributeValue {
  try {
    return readValue(value);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw validationError(
      `ExpressionAttributeValues contains invalid value: ${error.message} for key ${name}`,
    );
  }
}

function checkGiven(
  parameter: string,
  sign: string,
  given: object | undefined,
  expressions: readonly unknown[],
): void {
  if (given === undefined) return;
  if (expressions.length === 0)
    throw validationError(`${parameter} can only be specified when using expressions`);
  const keys = Object.keys(given);
  if (keys.length === 0) throw validationError(`${parameter} must not be empty`);
  for (const key of keys) {
    if (!key.startsWith(sign) || !/^.\w+$/.test(key)) {
      throw validationError(`${parameter} contains invalid key: Syntax error; key: "${key}"`);
    }
  }
}

function checkDefined(expression: Parsed<unknown>, { names, values }: Placeholders): void {
  const invalid = (message: string): Error => validationError(`Invalid ${expression.kind}: ${message}`);
  for (const name of expression.names) {
    if (!Object.hasOwn(names, name)) {
      throw invalid(
        `An expression attribute name used in the document path is not defined; attribute name: ${name}`,
      );
    }
  }
  for (const name of expression.values) {
    if (values[name] === undefined) {
      throw invalid(
        `An expression attribute value used in expression is not defined; attribute value: ${name}`,
      );
    }
  }
  for (const check of expression.checks) {
    const problem = check({ names, values });
    if (problem !== undefined) throw invalid(problem);
  }
}

function checkUsed(parameter: string, given: object | undefined, isUsed: (name: string) => boolean): void {
  const unused = Object.keys(given ?? {}).filter((name) => !isUsed(name));
  if (unused.length === 0) return;
  throw validationError(`Value provided in ${parameter} unused in expressions: keys: {${unused.join(", ")}}`);
}

/** Returns the value of a placeholder, which is defined. */
export function valueOf(name: string, values: Placeholders["values"]): AttributeValue {
  const value = values[name];
  if (value === undefined) throw new Error(`${name} is not defined`);
  return value;
}

/** Returns the attribute name of a part of a path. */
export function nameOf(part: string, { names }: Placeholders): string {
  return part.startsWith("#") ? (names[part] ?? part) : part;
}

/** Returns a path with the attribute names of its parts. */
export function resolvedPath(path: Path, placeholders: Placeholders): Path {
  const [first, ...rest] = path;
  return [
    nameOf(first, placeholders),
    ...rest.map((part) => (typeof part === "string" ? nameOf(part, placeholders) : part)),
  ];
}

/** Returns the value of an item at a path, if any. */
export function valueAt(item: Item, path: Path, placeholders: Placeholders): AttributeValue | undefined {
  let value = attribute(item, nameOf(path[0], placeholders));
  for (let index = 1; index < path.length && value !== undefined; index += 1) {
    const part = path[index];
    if (typeof part === "number") value = "L" in value ? value.L[part] : undefined;
    else value = "M" in value ? attribute(value.M, nameOf(String(part), placeholders)) : undefined;
  }
  return value;
}

/** Formats a path for error messages. */
export function pathText(path: Path): string {
  return `[${path.map((part) => (typeof part === "number" ? `[${part}]` : part)).join(", ")}]`;
}
