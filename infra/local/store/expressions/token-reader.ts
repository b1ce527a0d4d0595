import { validationError } from "../service-error.ts";
import { reservedWords } from "./reserved-words.ts";

/** The kinds of expression, by the names of the parameters. */
export type ExpressionKind =
  | "ConditionExpression"
  | "FilterExpression"
  | "KeyConditionExpression"
  | "ProjectionExpression"
  | "UpdateExpression";

/** The names and list positions of a path as written. A name may be a placeholder: `#name`. */
export type Path = readonly [string, ...(number | string)[]];

const maxLength = 4_096;
const maxIndexDigits = 9;
/** The most operators and functions in one expression. */
const maxOperators = 300;

const token = /\s*(?:([A-Za-z_]\w*|#\w+|:\w+|\d+)|(<=|>=|<>|[=<>(),+\-.[\]]))/y;

/** Reads an expression token by token, and collects its placeholders. */
export class TokenReader {
  readonly kind: ExpressionKind;
  readonly names = new Set<string>();
  readonly values = new Set<string>();
  readonly #tokens: string[] = [];
  #position = 0;
  #operators = 0;

  /** @throws ServiceError for an invalid token */
  constructor(kind: ExpressionKind, text: string) {
    this.kind = kind;
    if (text.trim() === "") throw this.invalidExpression("The expression can not be empty;");
    if (text.length > maxLength) {
      throw this.invalidExpression(
        `Expression size has exceeded the maximum allowed size; expression size: ${text.length}`,
      );
    }
    const end = text.trimEnd().length;
    token.lastIndex = 0;
    while (token.lastIndex < end) {
      const start = token.lastIndex;
      const [, word, sign] = token.exec(text) ?? [];
      const found = word ?? sign;
      if (found === undefined) {
        throw this.#syntaxError(text.slice(start).trimStart().charAt(0), text.slice(start, start + 10));
      }
      this.#tokens.push(found);
    }
  }

  get isAtEnd(): boolean {
    return this.#position === this.#tokens.length;
  }

  /** Returns the next token, or a later one; an empty string at the end. */
  peek(ahead = 0): string {
    return this.#tokens[this.#position + ahead] ?? "";
  }

  next(): string {
    const found = this.peek();
    if (found === "") throw this.unexpected();
    this.#position += 1;
    return found;
  }

  /** Reads the next token if it is this one, in upper or lower case. @returns whether it was */
  take(expected: string): boolean {
    if (this.peek().toUpperCase() !== expected) return false;
    this.#position += 1;
    return true;
  }

  /** @throws ServiceError for another token */
  expect(expected: string): void {
    if (!this.take(expected)) throw this.unexpected();
  }

  expectEnd(): void {
    if (!this.isAtEnd) throw this.unexpected();
  }

  /** Returns the next token, without reading it, if it is the name of a function. */
  peekFunction(): string | undefined {
    return /^[A-Za-z_]/.test(this.peek()) && this.peek(1) === "(" ? this.peek() : undefined;
  }

  /** Reads the name of a function and its opening parenthesis. */
  openFunction(): void {
    this.countOperator();
    this.next();
    this.expect("(");
  }

  get isAtValue(): boolean {
    return this.peek().startsWith(":");
  }

  /** Reads the placeholder of a value. */
  value(): string {
    if (!this.isAtValue) throw this.unexpected();
    const name = this.next();
    this.values.add(name);
    return name;
  }

  /** @param operator the function that accepts no value in place of the path, if the path is for one */
  path(operator?: string): Path {
    if (operator !== undefined && this.isAtValue) {
      throw this.invalidExpression(
        `Operator or function requires a document path; operator or function: ${operator}`,
      );
    }

    const path: [string, ...(number | string)[]] = [this.#name()];
    for (;;) {
      if (this.take(".")) path.push(this.#name());
      else if (this.take("[")) path.push(this.#index());
      else return path;
    }
  }

  /** Counts an operator or a function. Their limit also bounds the nesting of expressions. */
  countOperator(): void {
    this.#operators += 1;
    if (this.#operators > maxOperators) {
      throw this.invalidExpression(
        `The expression contains too many operators; maximum operator count: ${maxOperators}`,
      );
    }
  }

  /** The error for an invalid expression. */
  invalidExpression(message: string): Error {
    return validationError(`Invalid ${this.kind}: ${message}`);
  }

  /** The error for a function that exists, but not at this place. */
  misplaced(name: string): Error {
    return this.invalidExpression(
      `The function is not allowed to be used this way in an expression; function: ${name}`,
    );
  }

  /** The error for the next token. */
  unexpected(): Error {
    const near = this.#tokens.slice(Math.max(0, this.#position - 1), this.#position + 2).join(" ");
    return this.#syntaxError(this.isAtEnd ? "<EOF>" : this.peek(), near);
  }

  #name(): string {
    const name = this.peek();
    if (!/^[A-Za-z_#]/.test(name)) throw this.unexpected();
    this.#position += 1;
    if (name.startsWith("#")) this.names.add(name);
    else if (reservedWords.has(name.toUpperCase())) {
      throw this.invalidExpression(`Attribute name is a reserved keyword; reserved keyword: ${name}`);
    }
    return name;
  }

  #index(): number {
    const digits = this.peek();
    if (!/^\d+$/.test(digits)) throw this.unexpected();
    if (digits.length > maxIndexDigits) {
      throw this.invalidExpression(`List index is not within the allowable range; index: [${digits}]`);
    }
    this.#position += 1;
    this.expect("]");
    return Number(digits);
  }

  #syntaxError(found: string, near: string): Error {
    return this.invalidExpression(`Syntax error; token: "${found}", near: "${near}"`);
  }
}
