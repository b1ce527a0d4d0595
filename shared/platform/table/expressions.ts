import type { EntityName, Given, ItemOf, StoredOf } from "./entities.ts";
import { storedNameOf } from "./stored-names.ts";

type NameIn<Item> = Extract<keyof Item, string>;

/** The names of the fields that a schema allows to be missing. */
type OptionalName<Item> = {
  [Name in NameIn<Item>]-?: undefined extends Item[Name] ? Name : never;
}[NameIn<Item>];

/** The names of the fields whose values are of a type. */
type NameOf<Item, Value> = {
  [Name in NameIn<Item>]-?: NonNullable<Item[Name]> extends Value ? Name : never;
}[NameIn<Item>];

type Values<Item> = { readonly [Name in NameIn<Item>]?: Given<Item[Name]> | undefined };
type Numbers<Item> = { readonly [Name in NameOf<Item, number>]?: number };
type Members<Item> = { readonly [Name in NameOf<Item, ReadonlySet<string>>]?: ReadonlySet<string> };

/** The changes of an update to the fields of an item. Other fields stay as they are. */
export interface Changes<Name extends EntityName> {
  /** New values. A field whose value is undefined stays as it is. */
  readonly set?: Values<ItemOf<Name>>;
  /** Values for missing fields. Present fields stay as they are. */
  readonly setIfAbsent?: Values<ItemOf<Name>>;
  readonly remove?: readonly OptionalName<StoredOf<Name>>[];
  /** Numbers to add (a missing field counts as 0), and members to add to a set. */
  readonly add?: Members<ItemOf<Name>> & Numbers<ItemOf<Name>>;
  /** Members to remove from a set. */
  readonly take?: Members<ItemOf<Name>>;
}

/** The fields of a PATCH: null removes a field, undefined leaves it as it is. */
export type Patch<Name extends EntityName> = {
  readonly [Field in NameIn<ItemOf<Name>>]?:
    | Given<ItemOf<Name>[Field]>
    | (Field extends OptionalName<StoredOf<Name>> ? null : never)
    | undefined;
};

/** Another field of the same item, which a requirement compares with. */
class OtherField<Name extends string> {
  readonly name: Name;

  constructor(name: Name) {
    this.name = name;
  }
}

export function field<const Name extends string>(name: Name): OtherField<Name> {
  return new OtherField(name);
}

type Compared<Item> = {
  readonly [Name in NameIn<Item>]?: Given<Item[Name]> | OtherField<NameIn<Item>> | undefined;
};
type Ordered<Item> = {
  readonly [Name in NameOf<Item, number | string>]?:
    | NonNullable<Item[Name]>
    | OtherField<NameOf<Item, number | string>>;
};

/** Tests of fields by their names. All of them must hold. A missing field passes none except `isNot` and `lacks`. */
interface Tests<Item> {
  readonly is?: Compared<Item>;
  readonly isNot?: Compared<Item>;
  readonly below?: Ordered<Item>;
  readonly atMost?: Ordered<Item>;
  readonly above?: Ordered<Item>;
  readonly atLeast?: Ordered<Item>;
  /** A member of a set. */
  readonly contains?: { readonly [Name in NameOf<Item, ReadonlySet<string>>]?: string };
  /** A text that is no member of a set. */
  readonly lacks?: { readonly [Name in NameOf<Item, ReadonlySet<string>>]?: string };
  /** The number of members of a set. */
  readonly sizeBelow?: { readonly [Name in NameOf<Item, ReadonlySet<string>>]?: number };
}

/** The requirements of a write on the item that it finds. All of them must hold. */
export interface Requirements<Name extends EntityName> extends Tests<ItemOf<Name>> {
  /** Tests that a missing field passes too. */
  readonly ifPresent?: Tests<ItemOf<Name>>;
  readonly present?: readonly ("pk" | NameIn<ItemOf<Name>>)[];
  readonly absent?: readonly ("pk" | NameIn<ItemOf<Name>>)[];
  /** Alternatives, of which one must hold. */
  readonly anyOf?: readonly Requirements<Name>[];
}

/** The same without the types of a schema, which only this layer uses. */
type Fields = Readonly<Record<string, unknown>>;
type UntypedTests = Readonly<Partial<Record<keyof Tests<never>, Fields>>>;
export interface UntypedChanges {
  readonly set?: Fields;
  readonly setIfAbsent?: Fields;
  readonly remove?: readonly string[];
  readonly add?: Fields;
  readonly take?: Fields;
}
export interface UntypedRequirements extends UntypedTests {
  readonly ifPresent?: UntypedTests;
  readonly present?: readonly string[];
  readonly absent?: readonly string[];
  readonly anyOf?: readonly UntypedRequirements[];
}

/** Each kind of test in DynamoDB's language. */
const tests = {
  is: (name, value) => `${name} = ${value}`,
  isNot: (name, value) => `${name} <> ${value}`,
  below: (name, value) => `${name} < ${value}`,
  atMost: (name, value) => `${name} <= ${value}`,
  above: (name, value) => `${name} > ${value}`,
  atLeast: (name, value) => `${name} >= ${value}`,
  contains: (name, value) => `contains(${name}, ${value})`,
  lacks: (name, value) => `NOT contains(${name}, ${value})`,
  sizeBelow: (name, value) => `size(${name}) < ${value}`,
} satisfies Record<keyof Tests<never>, (name: string, value: string) => string>;
// The compiler has no type for the names of an object's properties.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const kindsOfTests = Object.keys(tests) as (keyof Tests<never>)[];

/** Changes and requirements in DynamoDB's language. It rejects empty parts, so they are undefined. */
interface Expressions {
  readonly UpdateExpression: string | undefined;
  readonly ConditionExpression: string | undefined;
  readonly ExpressionAttributeNames: Record<string, string> | undefined;
  readonly ExpressionAttributeValues: Record<string, unknown> | undefined;
}

/**
 * Writes changes and requirements in DynamoDB's language. No other code does.
 * @throws Error for a required value that is undefined, because the write would then apply to other items too
 */
export function expressionsOf(changes: UntypedChanges, requirements: UntypedRequirements): Expressions {
  const { set = {}, setIfAbsent, remove = [], add, take } = changes;
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const nameOf = (name: string): string => {
    const stored = storedNameOf(name);
    names[`#${stored}`] = stored;
    return `#${stored}`;
  };
  const valueOf = (name: string, given: unknown): string => {
    if (given === undefined) throw new Error(`the write requires a ${name} that it does not know`);
    if (given instanceof OtherField) return nameOf(given.name);
    let placeholder = `:${name}`;
    while (placeholder in values && values[placeholder] !== given) placeholder += "_";
    values[placeholder] = given;
    return placeholder;
  };
  // Each request runs this, so it makes few lists.
  const write = (
    parts: string[],
    fields: Fields | undefined,
    partOf: (name: string, value: string) => string,
  ): void => {
    if (fields === undefined) return;
    for (const [name, given] of Object.entries(fields))
      parts.push(partOf(nameOf(name), valueOf(name, given)));
  };
  const conditionOf = (required: UntypedRequirements): string => {
    const { ifPresent, present = [], absent = [], anyOf } = required;
    const parts: string[] = [];
    for (const kind of kindsOfTests) write(parts, required[kind], tests[kind]);
    for (const kind of ifPresent === undefined ? [] : kindsOfTests) {
      const orAbsent = (name: string, value: string): string =>
        `(attribute_not_exists(${name}) OR ${tests[kind](name, value)})`;
      write(parts, ifPresent?.[kind], orAbsent);
    }
    for (const name of present) parts.push(`attribute_exists(${nameOf(name)})`);
    for (const name of absent) parts.push(`attribute_not_exists(${nameOf(name)})`);
    if (anyOf !== undefined) parts.push(`(${anyOf.map(conditionOf).join(" OR ")})`);
    return parts.join(" AND ");
  };
  const clauses = {
    SET: [] as string[],
    REMOVE: remove.map(nameOf),
    ADD: [] as string[],
    DELETE: [] as string[],
  };
  for (const [name, given] of Object.entries(set)) {
    if (given !== undefined) clauses.SET.push(`${nameOf(name)} = ${valueOf(name, given)}`);
  }
  write(clauses.SET, setIfAbsent, (name, value) => `${name} = if_not_exists(${name}, ${value})`);
  write(clauses.ADD, add, (name, value) => `${name} ${value}`);
  write(clauses.DELETE, take, (name, value) => `${name} ${value}`);
  let update = "";
  for (const [keyword, parts] of Object.entries(clauses)) {
    if (parts.length > 0) update += `${update === "" ? "" : " "}${keyword} ${parts.join(", ")}`;
  }
  const condition = conditionOf(requirements);
  return {
    UpdateExpression: update === "" ? undefined : update,
    ConditionExpression: condition === "" ? undefined : condition,
    ExpressionAttributeNames: Object.keys(names).length === 0 ? undefined : names,
    ExpressionAttributeValues: Object.keys(values).length === 0 ? undefined : values,
  };
}
