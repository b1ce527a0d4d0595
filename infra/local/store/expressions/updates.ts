import type { AttributeType } from "../attribute-values.ts";
import { cachedParser } from "./parser-cache.ts";
import { distinctCheck, parsed, typeCheck, type Check, type Parsed } from "./placeholders.ts";
import { TokenReader, type ExpressionKind, type Path } from "./token-reader.ts";

/** The right side of a SET action. */
export type NewValue =
  | { readonly type: "append"; readonly left: NewValue; readonly right: NewValue }
  | { readonly type: "default"; readonly path: Path; readonly otherwise: NewValue }
  | { readonly type: "path"; readonly path: Path }
  | { readonly type: "sum"; readonly sign: "+" | "-"; readonly left: NewValue; readonly right: NewValue }
  | { readonly type: "value"; readonly value: string };

/** An action of an update. `add` and `delete` have the placeholder of the value. */
export type Action =
  | { readonly type: "add" | "delete"; readonly path: Path; readonly value: string }
  | { readonly type: "remove"; readonly path: Path }
  | { readonly type: "set"; readonly path: Path; readonly value: NewValue };

const setTypes: readonly AttributeType[] = ["SS", "NS", "BS"];
const sections = ["SET", "REMOVE", "ADD", "DELETE"] as const;

/** Parses an update expression. @throws ServiceError for an invalid one */
export const parseUpdate = cachedParser((kind: ExpressionKind, text: string): Parsed<readonly Action[]> => {
  const parser = new UpdateParser(new TokenReader(kind, text));
  return parsed(parser.reader, parser.actions(), parser.checks);
});

class UpdateParser {
  readonly reader: TokenReader;
  readonly checks: Check[] = [];

  constructor(reader: TokenReader) {
    this.reader = reader;
  }

  actions(): Action[] {
    const actions: Action[] = [];
    const seen = new Set<string>();
    while (!this.reader.isAtEnd) {
      const section = sections.find((each) => this.reader.take(each));
      if (section === undefined) throw this.reader.unexpected();
      if (seen.has(section)) {
        throw this.reader.invalidExpression(
          `The "${section}" section can only be used once in an update expression;`,
        );
      }
      seen.add(section);
      do actions.push(this.#action(section));
      while (this.reader.take(","));
    }
    return actions;
  }

  #action(section: (typeof sections)[number]): Action {
    const { reader } = this;
    const path = reader.path();
    switch (section) {
      case "SET":
        reader.expect("=");
        return { type: "set", path, value: this.#newValue() };
      case "REMOVE":
        return { type: "remove", path };
      case "ADD":
        return { type: "add", path, value: this.#valueOf("ADD", ["N", ...setTypes]) };
      case "DELETE":
        return { type: "delete", path, value: this.#valueOf("DELETE", setTypes) };
    }
  }

  #valueOf(operator: string, types: readonly AttributeType[]): string {
    const value = this.reader.value();
    this.checks.push(typeCheck(value, operator, types));
    return value;
  }

  #newValue(): NewValue {
    const { reader } = this;
    if (reader.take("(")) {
      reader.countOperator();
      const inner = this.#newValue();
      reader.expect(")");
      return inner;
    }
    const left = reader.peekFunction() === "list_append" ? this.#append() : this.#operand();
    const sign = reader.peek();
    if (sign !== "+" && sign !== "-") return left;
    if (left.type === "append") throw reader.misplaced("list_append");
    reader.next();
    reader.countOperator();
    const right = this.#operand();
    this.#checkTypes(sign, "N", left, right);
    return { type: "sum", sign, left, right };
  }

  #append(): NewValue {
    this.reader.openFunction();
    const left = this.#operand();
    this.reader.expect(",");
    const right = this.#operand();
    this.reader.expect(")");
    this.#checkTypes("list_append", "L", left, right);
    return { type: "append", left, right };
  }

  #operand(): NewValue {
    const { reader } = this;
    if (reader.isAtValue) return { type: "value", value: reader.value() };
    const name = reader.peekFunction();
    if (name === undefined) return { type: "path", path: reader.path() };
    if (name === "list_append") throw reader.misplaced(name);
    if (name !== "if_not_exists") throw reader.invalidExpression(`Invalid function name; function: ${name}`);
    reader.openFunction();
    const path = reader.path(name);
    reader.expect(",");
    const otherwise = this.#operand();
    reader.expect(")");
    if (otherwise.type === "path") this.checks.push(distinctCheck(name, path, [otherwise.path]));
    return { type: "default", path, otherwise };
  }

  /** Checks the types of the operands that are values of the expression. */
  #checkTypes(operator: string, type: "L" | "N", ...operands: readonly NewValue[]): void {
    for (const operand of operands) {
      if (operand.type === "value") this.checks.push(typeCheck(operand.value, operator, [type]));
    }
  }
}
