import type * as z from "zod/mini";

import type { ErrorDetail } from "./errors.ts";

/*
 * Checks input against a schema of the contract, and describes each mistake in the API's own words.
 */

/** A value can be wrong in thousands of places; only the first ones are reported. */
const maxDetails = 20;

/** The names of unknown fields are the caller's own text. */
const maxNameLength = 64;

type Validated<Schema extends z.ZodMiniType> =
  | { readonly success: true; readonly data: z.output<Schema> }
  | { readonly success: false; readonly details: readonly ErrorDetail[] };

/**
 * Checks a value. An unknown field that resembles a known one is wrong too, because the caller meant that one. When a
 * required field is missing, all unknown fields are reported, because one of them may be its wrong name.
 * @param noun what a field of the value is called
 * @returns what the schema makes of it, or each field that is wrong
 */
export function validate<Schema extends z.ZodMiniType>(
  schema: Schema,
  value: unknown,
  noun: "field" | "parameter" | "setting" = "field",
): Validated<Schema> {
  const knownNames = new Map<readonly string[], readonly string[]>();
  const result = schema.safeParse(value, {
    error: (issue) => {
      if (issue.code === "unrecognized_keys") knownNames.set(issue.keys, fieldsOf(issue.inst));
      return validationMessage(issue);
    },
  });
  const issues = result.error?.issues ?? [];
  const given: object = Object(value);
  const isIncomplete = issues.some(
    ({ path: [name, ...rest] }) => name !== undefined && rest.length === 0 && !(name in given),
  );
  const { shape, catchall } = definitionOf(schema);
  const known = Object.keys(shape ?? {});
  // A schema with a rule for other fields has reported them, or allows them.
  const others = shape === undefined || catchall !== undefined ? [] : Object.keys(given);
  const ignored = others
    .filter((name) => !known.includes(name) && (isIncomplete || nearest(name, known) !== undefined))
    .map((name) => unknownField([name], known, noun));
  if (result.success && ignored.length === 0) return { success: true, data: result.data };
  const details = issues.flatMap((issue): ErrorDetail[] => {
    const { path, message } = issue;
    const names = path.map((name) => String(name).slice(0, maxNameLength));
    if (issue.code !== "unrecognized_keys") return [{ path: names.join("."), message }];
    const allowed = knownNames.get(issue.keys) ?? [];
    return issue.keys.slice(0, maxDetails).map((name) => unknownField([...names, name], allowed, noun));
  });
  return { success: false, details: [...details, ...ignored].slice(0, maxDetails) };
}

function unknownField(path: readonly PropertyKey[], known: readonly string[], noun: string): ErrorDetail {
  const name = String(path.at(-1));
  const meant = nearest(name, known);
  return {
    path: [...path.slice(0, -1), name.slice(0, maxNameLength)].join("."),
    message: `unknown ${noun}${meant === undefined ? "" : `; did you mean \`${meant}\`?`}`,
  };
}

/** The definition of a schema, of which objects have a shape. */
interface Definition {
  readonly type: string;
  readonly innerType?: { readonly def: Definition };
  readonly shape?: Readonly<Record<string, { readonly def: Definition }>>;
  readonly catchall?: object;
}

/** Returns the definition of a schema, or of the one within it when it has a default. */
function definitionOf({ def }: { readonly def: Definition }): Definition {
  return def.innerType === undefined ? def : definitionOf(def.innerType);
}

const fieldsNotNull = new WeakSet<object>();

/**
 * Marks an optional field of a POST whose `null` is wrong instead of absent, because its absence lifts a limit or moves
 * money. JavaScript writes NaN and an invalid date as `null`.
 */
export function notNull<Schema extends z.ZodMiniType>(field: Schema): Schema {
  fieldsNotNull.add(field);
  return field;
}

/** Returns the names of the marked fields of a schema, and of all fields within them. */
export function namesOfNotNull(schema: { readonly def: Definition }, isWithin = false): string[] {
  return Object.entries(definitionOf(schema).shape ?? {}).flatMap(([name, field]) => {
    const isNotNull = isWithin || fieldsNotNull.has(field);
    return [...(isNotNull ? [name] : []), ...namesOfNotNull(field, isNotNull)];
  });
}

/** The names of the fields of an object's schema. It is looked at by its form, for functions without a schema carry no zod. */
function fieldsOf(schema: object = {}): string[] {
  return "shape" in schema ? Object.keys(Object(schema.shape)) : [];
}

/** Describes what is wrong with a value whose schema has no text for it. For `error` of `parse` and `safeParse`. */
export function validationMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${nameOfType(issue.expected)}`;
    case "too_small":
      return limitText(issue.origin, "least", Number(issue.minimum), issue.inclusive !== false);
    case "too_big":
      return limitText(issue.origin, "most", Number(issue.maximum), issue.inclusive !== false);
    case "invalid_value":
      return issue.input === undefined ? "is required" : `must be ${oneOf(issue.values)}`;
    case "invalid_format":
      return nameOfFormat(issue.format);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_union":
      return Array.isArray(issue.options)
        ? `must be ${oneOf(issue.options)}`
        : "has none of the forms that are allowed";
    case "invalid_key":
      return `has a name that is not allowed: it ${issue.issues[0]?.message ?? "is not valid"}`;
    case "unrecognized_keys":
      return `has unknown fields: ${issue.keys.map((name) => name.slice(0, maxNameLength)).join(", ")}`;
    case "custom":
    case "invalid_element":
    default:
      return "is not valid";
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function nameOfType(expected: string): string {
  return typeNames[expected] ?? "of another type";
}

const formatNames: Readonly<Record<string, string>> = {
  email: "an email address",
  url: "a URL",
  datetime: "an ISO 8601 date-time in UTC, such as 2026-03-01T09:30:00Z",
  date: "an ISO 8601 date, such as 2026-03-01",
};

function nameOfFormat(format: string): string {
  const name = formatNames[format];
  return name === undefined ? "has the wrong form" : `must be ${name}`;
}

function limitText(origin: string, bound: "least" | "most", limit: number, isInclusive: boolean): string {
  if (bound === "least" && limit === 1 && (origin === "string" || origin === "array"))
    return "must not be empty";
  if (origin === "string") return `must be at ${bound} ${limit} characters long`;
  if (origin === "array" || origin === "set") return `must have at ${bound} ${limit} entries`;
  if (!isInclusive) return `must be ${bound === "least" ? "greater" : "less"} than ${limit}`;
  return `must be at ${bound} ${limit}`;
}

function oneOf(values: readonly unknown[]): string {
  const [only, ...others] = values.map(String);
  return others.length === 0 ? String(only) : `one of ${[only, ...others].join(", ")}`;
}

/** The known name that someone probably meant: one that begins with theirs, or differs in few letters. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  if (name.length > maxNameLength) return undefined;
  const plainName = plain(name);
  const [found] = known
    .map((each) => ({ each, plainEach: plain(each), distance: editDistance(plainName, plain(each)) }))
    .filter(
      ({ plainEach, distance }) =>
        (plainName.length > 2 && plainEach.startsWith(plainName)) ||
        // A third of the letters may be wrong: of fewer the name would be another word.
        distance <= Math.max(1, Math.floor(plainEach.length / 3)),
    )
    .toSorted((one, other) => one.distance - other.distance);
  return found?.each;
}

/** A name without what conventions of writing names differ in: `schedule_at`, `Schedule-At`. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** How many letters must be added, taken away or replaced to make one text of another (Levenshtein). */
export function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
