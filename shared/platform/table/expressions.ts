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

/** Tests of fields by their names. All of them must hold. A missing field passes none except `isNot`. */
interface Tests<Item> {
  readonly is?: Compared<Item>;
  readonly isNot?: Compared<Item>;
  readonly below?: Ordered<Item>;
  readonly atMost?: Ordered<Item>;
  readonly above?: Ordered<Item>;
  readonly atLeast?: Ordered<Item>;
  /** A member of a set. */
  readonly contains?: { readonly [Name in NameOf<Item, ReadonlySet<string>>]?: string };
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
  sizeBelow: (name, value) => `size(${name}) < ${value}`,
} satisfies Record<keyof Tests<never>, (name: string, value: string) => string>;

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
  const { set = {}, setIfAbsent = {}, remove = [], add = {}, take = {} } = changes;
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
  const pairs = (fields: Fields): (readonly [string, string])[] =>
    Object.entries(fields).map(([name, given]) => [nameOf(name), valueOf(name, given)]);
  const testsOf = (wanted: UntypedTests): (readonly [string, string])[] => {
    const given: Readonly<Record<string, Fields | undefined>> = { ...wanted };
    return Object.entries(tests).flatMap(([kind, write]) =>
      pairs(given[kind] ?? {}).map(([name, value]) => [name, write(name, value)] as const),
    );
  };
  const conditionOf = (required: UntypedRequirements): string => {
    const { ifPresent = {}, present = [], absent = [], anyOf } = required;
    return [
      ...testsOf(required).map(([, test]) => test),
      ...testsOf(ifPresent).map(([name, test]) => `(attribute_not_exists(${name}) OR ${test})`),
      ...present.map((name) => `attribute_exists(${nameOf(name)})`),
      ...absent.map((name) => `attribute_not_exists(${nameOf(name)})`),
      ...(anyOf === undefined ? [] : [`(${anyOf.map(conditionOf).join(" OR ")})`]),
    ].join(" AND ");
  };
  const settable = Object.fromEntries(Object.entries(set).filter(([, given]) => given !== undefined));
  const clauses = {
    SET: [
      ...pairs(settable).map(([name, value]) => `${name} = ${value}`),
      ...pairs(setIfAbsent).map(([name, value]) => `${name} = if_not_exists(${name}, ${value})`),
    ],
    REMOVE: remove.map(nameOf),
    ADD: pairs(add).map((pair) => pair.join(" ")),
    DELETE: pairs(take).map((pair) => pair.join(" ")),
  };
  const update = Object.entries(clauses)
    .filter(([, parts]) => parts.length > 0)
    .map(([keyword, parts]) => `${keyword} ${parts.join(", ")}`)
    .join(" ");
  const condition = conditionOf(requirements);
  return {
    UpdateExpression: update === "" ? undefined : update,
    ConditionExpression: condition === "" ? undefined : condition,
    ExpressionAttributeNames: Object.keys(names).length === 0 ? undefined : names,
    ExpressionAttributeValues: Object.keys(values).length === 0 ? undefined : values,
  };
}
