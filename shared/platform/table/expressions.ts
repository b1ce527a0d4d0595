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

/** Another field of the same item, which a requirement compares with. */
class OtherField {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

export function field(name: string): OtherField {
  return new OtherField(name);
}

type Ordered = Readonly<Record<string, OtherField | number | string>>;

/** Tests of fields by their names. All of them must hold. A missing field passes none except `isNot`. */
interface Tests {
  readonly is?: Fields;
  readonly isNot?: Fields;
  readonly below?: Ordered;
  readonly atMost?: Ordered;
  readonly above?: Ordered;
  readonly atLeast?: Ordered;
  /** A member of a set. */
  readonly contains?: Readonly<Record<string, string>>;
  /** The number of members of a set. */
  readonly sizeBelow?: Readonly<Record<string, number>>;
}

/** The requirements of a write on the item that it finds. All of them must hold. */
export interface Requirements extends Tests {
  /** Tests that a missing field passes too. */
  readonly ifPresent?: Tests;
  readonly present?: readonly string[];
  readonly absent?: readonly string[];
  /** Alternatives, of which one must hold. */
  readonly anyOf?: readonly Requirements[];
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
} satisfies Record<keyof Tests, (name: string, value: string) => string>;

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
export function expressionsOf(changes: Changes, requirements: Requirements): Expressions {
  const { set = {}, setIfAbsent = {}, remove = [], add = {}, take = {} } = changes;
  const names: Record<string, string> = {};
  const values: Record<string, unknown> = {};
  const nameOf = (name: string): string => {
    names[`#${name}`] = name;
    return `#${name}`;
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
  const testsOf = (wanted: Tests): (readonly [string, string])[] => {
    const given: Readonly<Record<string, Fields | undefined>> = { ...wanted };
    return Object.entries(tests).flatMap(([kind, write]) =>
      pairs(given[kind] ?? {}).map(([name, value]) => [name, write(name, value)] as const),
    );
  };
  const conditionOf = (required: Requirements): string => {
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
