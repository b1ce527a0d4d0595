import type { Key } from "./keys.ts";
import type { Check, Update } from "./table.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What an update does to the fields of an item. Fields that it does not name stay as they are. */
export interface Changes {
  /** New values; a field whose value is undefined stays as it is. */
  readonly set?: Fields;
  /** Values for fields that are not there yet; those that are there stay as they are. */
  readonly setIfAbsent?: Fields;
  readonly remove?: readonly string[];
  /** Numbers to be added, to 0 where there is none yet, and members that a set takes up. */
  readonly add?: Fields;
  /** Members that a set loses. */
  readonly take?: Fields;
}

/** What an item has to be like for an update to be applied. All of it must hold. */
export interface Requirements {
  /** Values that fields have. */
  readonly is?: Fields;
  readonly present?: readonly string[];
  readonly absent?: readonly string[];
  /** Anything else, in DynamoDB's language. A field is named `#field`, and has to be where DynamoDB reserves its name. */
  readonly where?: string;
  /** The values that `where` names, for example `:at`. */
  readonly values?: Fields;
}

/**
 * An update of one item, in the expressions that DynamoDB takes. This is the only place that writes them.
 * @throws Error for a required value that is undefined: the update would be applied to what it is not meant for
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

/** What a transaction requires of an item that it does not change. */
export function checkOf(key: Key, requirements: Requirements): Check {
  const { condition = "attribute_exists(pk)", names = {}, values } = updateOf(key, {}, requirements);
  return {
    check: key,
    condition,
    // DynamoDB takes no empty map.
    ...(Object.keys(names).length === 0 ? {} : { names }),
    ...(values === undefined ? {} : { values }),
  };
}

/**
 * The changes that a PATCH asks for: a field that is undefined stays as it is, one that is null is removed. Because
 * nothing else is written, changes of other fields made at the same time are kept.
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
