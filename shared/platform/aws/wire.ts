import { NormalizedSchema } from "@smithy/core/schema";

/*
 * Converts between the values of the SDK's commands and the JSON of AWS. They differ in binary values, which are base64, and in
 * times, which are seconds. The SDK's schema of each operation states where these are.
 */

/** A schema of the SDK, or a reference to one. */
export type Schema = Parameters<typeof NormalizedSchema.of>[0];

type Convert = (value: unknown) => unknown;

class Converter {
  readonly #binary: Convert;
  readonly #moment: Convert;
  /** The conversions by schema. Undefined means that both sides are the same. */
  readonly #known = new Map<unknown, Convert | undefined>();

  constructor(binary: Convert, moment: Convert) {
    this.#binary = binary;
    this.#moment = moment;
  }

  of(schema: Schema): Convert | undefined {
    const normalized = NormalizedSchema.of(schema);
    const key = normalized.getSchema();
    if (this.#known.has(key)) return this.#known.get(key);
    // A recursive schema, such as an attribute of DynamoDB, looks up its conversion when it is used.
    this.#known.set(key, (value) => this.#known.get(key)?.(value) ?? value);
    const convert = this.#make(normalized);
    this.#known.set(key, convert);
    return convert;
  }

  #make(schema: NormalizedSchema): Convert | undefined {
    if (schema.isBlobSchema()) return this.#binary;
    if (schema.isTimestampSchema()) return this.#moment;
    if (schema.isListSchema()) {
      const ofMember = this.of(schema.getValueSchema());
      return ofMember && ((value) => (Array.isArray(value) ? value.map(ofMember) : value));
    }
    if (schema.isMapSchema()) {
      const ofMember = this.of(schema.getValueSchema());
      return ofMember && ((value) => convertedEntries(value, () => ofMember));
    }
    if (!schema.isStructSchema()) return undefined;
    const members = new Map<string, Convert>();
    for (const [name, member] of schema.structIterator()) {
      const convert = this.of(member);
      if (convert !== undefined) members.set(name, convert);
    }
    return members.size === 0 ? undefined : (value) => convertedEntries(value, (name) => members.get(name));
  }
}

/** Returns the same object if nothing in it has to be converted, and else a copy. */
function convertedEntries(value: unknown, converterOf: (name: string) => Convert | undefined): unknown {
  if (typeof value !== "object" || value === null) return value;
  let changed: [name: string, member: unknown][] | undefined;
  for (const name of Object.keys(value)) {
    const convert = converterOf(name);
    if (convert === undefined) continue;
    const member: unknown = Reflect.get(value, name);
    const found = convert(member);
    if (found !== member) (changed ??= []).push([name, found]);
  }
  // Unlike an assignment, this keeps a member that is called `__proto__`.
  return changed === undefined ? value : { ...value, ...Object.fromEntries(changed) };
}

const outgoing = new Converter(
  (value) =>
    value instanceof Uint8Array
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64")
      : value,
  (value) => (value instanceof Date ? value.getTime() / 1_000 : value),
);

const incoming = new Converter(
  (value) => (typeof value === "string" ? new Uint8Array(Buffer.from(value, "base64")) : value),
  (value) => (typeof value === "number" ? new Date(Math.round(value * 1_000)) : value),
);

/** Returns the body of a request for the input of a command. */
export function wireText(schema: Schema, input: object): string {
  const convert = outgoing.of(schema);
  return JSON.stringify(convert === undefined ? input : convert(input));
}

/** Returns the output of a command for a parsed body. */
export function fromWire(schema: Schema, body: object): object {
  return Object(incoming.of(schema)?.(body) ?? body);
}
