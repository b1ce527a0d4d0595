import type { Key } from "./keys.ts";
import type { Check, Update } from "./table.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The changes of an update to the fields of an item. Other fields stay as they are. */
export interface Changes {
  /** New values. A field whose value is undefined stays as it is. */
  readonly set?: Fields;
  /** Values for missing fields. Present fields stay as they are. */
  readonly setIfAbsent?: Fields;
  readonly remove?: readonly string[];
  /** Numbers to add (a missing field counts as 0), and members to add to a set. */
  readonly add?: Fields;
  /** Members to remove from a set. */
  readonly take?: Fields;
}

/** The requirements of an update on its item. All of them must hold. */
export interface Requirements {
  /** The values of fields. */
  readonly is?: Fields;
  readonly present?: readonly string[];
  readonly absent?: readonly string[];
  /** Any other condition, in DynamoDB's language. `#field` names a field, which is necessary for DynamoDB's reserved words. */
  readonly where?: string;
  /** The values that `where` names, for example `:at`. */
  readonly values?: Fields;
}

/**
 * Returns an update of one item in DynamoDB's expressions. Only this function writes them.
 * @throws Error for a required value that is undefined, because the update would then apply to other items too
 */
export function updateOf(key: Key, changes: Changes, requirements: Requirements = {}): Update {
  const { set = {}, setIfAbsent = {}, remove = [], add = {}, take = {} } = changes;
  const { is = {}, present = [], absent = [], where, values: whereValues = {} } = requirements;
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = { ...whereValues };
  const name = (field: string): string => {
    names[`#${field}`] = field;
    return `#${field}`;
  };
  const value = (placeholder: string, given: unknown): string => {
    if (placeholder in values) throw new Error(`${placeholder} stands for two values`);
    values[placeholder] = given;
    return placeholder;
  };
  for (const [, field = ""] of (where ?? "").matchAll(/#(\w+)/g)) name(field);
  const settable = Object.entries(set).filter(([, given]) => given !== undefined);
  const clauses = [
    clause("SET", [
      ...settable.map(([field, given]) => `${name(field)} = ${value(`:${field}`, given)}`),
      ...Object.entries(setIfAbsent).map(
        ([field, given]) => `${name(field)} = if_not_exists(${name(field)}, ${value(`:${field}`, given)})`,
      ),
    ]),
    clause("REMOVE", remove.map(name)),
    clause(
      "ADD",
      Object.entries(add).map(([field, given]) => `${name(field)} ${value(`:${field}_added`, given)}`),
    ),
    clause(
      "DELETE",
      Object.entries(take).map(([field, given]) => `${name(field)} ${value(`:${field}_taken`, given)}`),
    ),
  ];
  const conditions = [
    ...Object.entries(is).map(([field, given]) => {
      if (given === undefined) throw new Error(`the update requires a ${field} that it does not know`);
      return `${name(field)} = ${value(`:${field}_required`, given)}`;
    }),
    ...present.map((field) => `attribute_exists(${name(field)})`),
    ...absent.map((field) => `attribute_not_exists(${name(field)})`),
    ...(where === undefined ? [] : [`(${where})`]),
  ];
  return {
    key,
    update: clauses.filter((each) => each !== "").join(" "),
    names,
    ...(Object.keys(values).length === 0 ? {} : { values }),
    ...(conditions.length === 0 ? {} : { condition: conditions.join(" AND ") }),
  };
}

/** Returns a transaction's requirements on an item that it does not change. */
export function checkOf(key: Key, requirements: Requirements): Check {
  const { condition = "attribute_exists(pk)", names = {}, values } = updateOf(key, {}, requirements);
  return {
    check: key,
    condition,
    // DynamoDB rejects an empty map.
    ...(Object.keys(names).length === 0 ? {} : { names }),
    ...(values === undefined ? {} : { values }),
  };
}

/**
 * Returns the changes of a PATCH: a field that is undefined stays as it is, one that is null is removed. Because nothing else
 * is written, concurrent changes of other fields are kept.
 */
export function changesOfPatch(fields: Fields): Changes {
  const given = Object.entries(fields);
  return {
    set: Object.fromEntries(given.filter(([, value]) => value !== null)),
    remove: given.filter(([, value]) => value === null).map(([field]) => field),
  };
}

function clause(keyword: string, parts: readonly string[]): string {
  return parts.length === 0 ? "" : `${keyword} ${parts.join(", ")}`;
}
