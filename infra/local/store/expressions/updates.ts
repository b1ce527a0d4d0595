import type { AttributeType } from "../attribute-values.ts";
import { cachedParser } from "./parser-cache.ts";
import { parsed, typeCheck, wrongType, type Check, type Parsed } from "./placeholders.ts";
import { TokenReader, type ExpressionKind, type Path } from "./token-reader.ts";

/** What an attribute is set to. */
export type NewValue =
  | { readonly type: "append"; readonly left: NewValue; readonly right: NewValue }
  | { readonly type: "default"; readonly path: Path; readonly otherwise: NewValue }
  | { readonly type: "path"; readonly path: Path }
  | { readonly type: "sum"; readonly sign: "+" | "-"; readonly left: NewValue; readonly right: NewValue }
  | { readonly type: "value"; readonly value: string };

/** One change of an update: `add` and `delete` carry the placeholder of what is added, or deleted from a set. */
export type Action =
  | { readonly type: "add" | "delete"; readonly path: Path; readonly value: string }
  | { readonly type: "remove"; readonly path: Path }
  | { readonly type: "set"; readonly path: Path; readonly value: NewValue };

const setTypes: readonly AttributeType[] = ["SS", "NS", "BS"];
const sections = ["SET", "REMOVE", "ADD", "DELETE"] as const;

/** An update expression. @throws ServiceError for one that is not written as DynamoDB reads them */
export const parseUpdate = cachedParser((kind: ExpressionKind, text: string): Parsed<readonly Action[]> => {
  const parser = new UpdateParser(new TokenReader(kind, text));
  const actions = parser.actions();
  return parsed(parser.reader, actions, parser.checks);
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
        throw this.reader.refusal(`The "${section}" section can only be used once in an update expression;`);
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
    const left = this.#term();
    const sign = this.reader.peek();
    if (sign !== "+" && sign !== "-") return left;
    this.reader.next();
    this.reader.countOperator();
    const right = this.#term();
    for (const term of [left, right]) {
      if (term.type === "value") this.checks.push(typeCheck(term.value, sign, ["N"]));
      if (term.type === "append") {
        throw this.reader.refusal(wrongType(sign, "L"));
      }
    }
    return { type: "sum", sign, left, right };
  }

  #term(): NewValue {
    const { reader } = this;
    if (reader.take("(")) {
      reader.countOperator();
      const inner = this.#newValue();
      reader.expect(")");
      return inner;
    }
    if (reader.peek().startsWith(":")) return { type: "value", value: reader.value() };
    const name = reader.peekFunction();
    if (name === undefined) return { type: "path", path: reader.path() };
    reader.countOperator();
    reader.next();
    reader.next();
    const value = this.#call(name);
    reader.expect(")");
    return value;
  }

  #call(name: string): NewValue {
    const { reader } = this;
    if (name === "if_not_exists") {
      if (reader.peek().startsWith(":")) {
        throw reader.refusal(`Operator or function requires a document path; operator or function: ${name}`);
      }
      const path = reader.path();
      reader.expect(",");
      return { type: "default", path, otherwise: this.#term() };
    }
    if (name !== "list_append") throw reader.refusal(`Invalid function name; function: ${name}`);
    const left = this.#term();
    reader.expect(",");
    const right = this.#term();
    for (const term of [left, right]) {
      if (term.type === "value") this.checks.push(typeCheck(term.value, name, ["L"]));
    }
    return { type: "append", left, right };
  }
}
