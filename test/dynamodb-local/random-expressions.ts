import fc from "fast-check";

import type { AttributeValue } from "../../infra/local/store/attribute-values.ts";

// Random values, and expressions over the attributes that have them.

// Few values, so that requests meet one another's items, and the limits of the types.
const texts = ["a", "ab", "b", "é", "\u{1f600}", "\ufffd", "a\u0000b", "B"];
const numbers = [
  "0",
  "1",
  "-1",
  "2",
  "10",
  "1.5",
  "-0.5",
  "1E+2",
  "0.10",
  "9".repeat(38),
  "1E-130",
  "-1E125",
];
export const bytes = ["AA==", "AAE=", "fw==", "AQ=="];
export const attributes = ["a", "b", "c", "dd"];
const fields = ["x", "y"];

export const text = fc.constantFrom(...texts);
export const number = fc.constantFrom(...numbers);

export const { value } = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom("", ...texts).map((S) => ({ S })),
    number.map((N) => ({ N })),
    fc.constantFrom("", ...bytes).map((B) => ({ B })),
    fc.boolean().map((BOOL) => ({ BOOL })),
    fc.constant({ NULL: true } as const),
    fc.subarray(texts, { minLength: 1, maxLength: 3 }).map((SS) => ({ SS })),
    fc.subarray(numbers, { minLength: 1, maxLength: 3 }).map((NS) => ({ NS })),
    fc.subarray(bytes, { minLength: 1, maxLength: 3 }).map((BS) => ({ BS })),
    fc.array(tie("value"), { maxLength: 3 }).map((L) => ({ L })),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...fields), tie("value")), { selector: ([name]) => name })
      .map((entries) => ({ M: Object.fromEntries(entries) })),
  ),
}));

/** A path that some items have and others do not. */
export const path = fc
  .tuple(
    fc.constantFrom(...attributes, "#a", "#b"),
    fc.array(fc.constantFrom(".x", ".y", ".#x", "[0]", "[1]", "[2]"), { maxLength: 2, size: "small" }),
  )
  .map(([name, rest]) => name + rest.join(""));

const placeholder = fc.constantFrom(":v0", ":v1", ":v2", ":v3", ":v4", ":v5");
const operand = fc.oneof(
  path,
  placeholder,
  path.map((each) => `size(${each})`),
);

export const { condition } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc
      .tuple(operand, fc.constantFrom("=", "<>", "<", "<=", ">", ">="), operand)
      .map(([left, sign, right]) => `${left} ${sign} ${right}`),
    path.map((each) => `attribute_exists(${each})`),
    path.map((each) => `attribute_not_exists(${each})`),
    fc.tuple(path, placeholder).map(([each, type]) => `attribute_type(${each}, ${type})`),
    fc.tuple(path, operand).map(([each, part]) => `begins_with(${each}, ${part})`),
    fc.tuple(operand, operand).map(([each, part]) => `contains(${each}, ${part})`),
    fc.tuple(operand, operand, operand).map(([each, from, to]) => `${each} BETWEEN ${from} AND ${to}`),
    fc
      .tuple(operand, fc.array(operand, { minLength: 1, maxLength: 3 }))
      .map(([each, list]) => `${each} IN (${list.join(", ")})`),
    fc
      .tuple(tie("condition"), fc.constantFrom("AND", "OR", "and"), tie("condition"))
      .map(([left, sign, right]) => `${left} ${sign} ${right}`),
    tie("condition").map((each) => `NOT ${each}`),
    tie("condition").map((each) => `(${each})`),
  ),
}));

const { newValue } = fc.letrec<{ newValue: string }>((tie) => ({
  newValue: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    placeholder,
    path,
    fc.tuple(path, tie("newValue")).map(([each, other]) => `if_not_exists(${each}, ${other})`),
    fc.tuple(tie("newValue"), tie("newValue")).map(([left, right]) => `list_append(${left}, ${right})`),
    fc
      .tuple(fc.oneof(path, placeholder), fc.constantFrom("+", "-"), fc.oneof(path, placeholder))
      .map(([left, sign, right]) => `${left} ${sign} ${right}`),
  ),
}));

const sections = {
  SET: fc.tuple(path, newValue).map(([each, to]) => `${each} = ${to}`),
  REMOVE: path,
  ADD: fc.tuple(path, placeholder).map(([each, by]) => `${each} ${by}`),
  DELETE: fc.tuple(path, placeholder).map(([each, of]) => `${each} ${of}`),
};
export const update = fc
  .subarray(["SET", "REMOVE", "ADD", "DELETE"] as const, { minLength: 1, maxLength: 3 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.array(sections[name], { minLength: 1, maxLength: 3 }).map((each) => `${name} ${each.join(", ")}`),
      ),
    ),
  )
  .map((each) => each.join(" "));

const allNames = { "#a": "a", "#b": "b", "#x": "x" };
/** The values of placeholders. */
export const pool = fc.tuple(value, value, value, number, text, fc.constantFrom("S", "N", "L", "M", "SS"));

/** The placeholders that the expressions of a request have, and no others. */
export function placeholders(
  expressions: readonly (string | undefined)[],
  [first, second, third, N, S, type]: readonly [
    AttributeValue,
    AttributeValue,
    AttributeValue,
    string,
    string,
    string,
  ],
): object {
  const written = expressions.join(" ");
  const used = <Each>(all: Readonly<Record<string, Each>>): [string, Each][] =>
    Object.entries(all).filter(([name]) => new RegExp(`${name}\\b`).test(written));
  const names = used(allNames);
  const values = used<AttributeValue>({
    ":v0": first,
    ":v1": second,
    ":v2": third,
    ":v3": { N },
    ":v4": { S },
    ":v5": { S: type },
  });
  return {
    ...(names.length === 0 ? {} : { ExpressionAttributeNames: Object.fromEntries(names) }),
    ...(values.length === 0 ? {} : { ExpressionAttributeValues: Object.fromEntries(values) }),
  };
}
