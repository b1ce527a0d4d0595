import * as z from "zod/mini";

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** The schemas that have a name, collected while the document is made. */
export class Components {
  readonly schemas: Record<string, JsonSchema> = {};

  /**
   * The JSON Schema of what is sent (`input`) or received (`output`); named parts go into `schemas`.
   * @throws Error when another schema has the name of a part
   */
  add(schema: z.ZodMiniType, io: "input" | "output"): JsonSchema {
    // Inside another object a schema that has a name becomes a reference, like all named ones below it.
    const made = z.toJSONSchema(z.object({ root: schema }), {
      io,
      override: ({ zodSchema, jsonSchema }) => {
        tidy(jsonSchema, io);
        if (zodSchema instanceof z.core.$ZodDiscriminatedUnion) addDiscriminator(zodSchema, jsonSchema);
      },
    });
    const { properties = {}, $defs = {} }: JsonSchema = JSON.parse(
      JSON.stringify(made).replaceAll("#/$defs/", componentPrefix),
    );
    for (const [name, definition] of Object.entries($defs)) {
      if (JSON.stringify(this.schemas[name] ?? definition) !== JSON.stringify(definition)) {
        throw new Error(`two schemas are called ${name}`);
      }
      this.schemas[name] = definition;
    }
    const root = properties["root"];
    if (typeof root !== "object") throw new Error("the schema is lost");
    return root;
  }

  /** Returns the schema that a reference names, or the schema itself. */
  resolve(schema: JsonSchema): JsonSchema {
    return schema.$ref === undefined
      ? schema
      : (this.schemas[schema.$ref.replace(componentPrefix, "")] ?? schema);
  }
}

const componentPrefix = "#/components/schemas/";

/** Removes keywords that are true and do not help the reader. */
function tidy(schema: JsonSchema, io: "input" | "output"): void {
  // A response may get new fields, which code that is generated from the document should not reject.
  if (io === "output" && schema.additionalProperties === false) delete schema.additionalProperties;
  if (io === "output" && schema.format !== undefined) delete schema.pattern;
  // Generators make a class of alternatives, even if all of them are text.
  const texts = (schema.anyOf ?? []).flatMap((each) =>
    typeof each === "object" && each.type === "string" ? [each.pattern] : [undefined, undefined],
  );
  if (texts.length > 0 && texts.every((pattern) => pattern !== undefined)) {
    delete schema.anyOf;
    Object.assign(schema, { type: "string", pattern: texts.join("|") });
  }
  // Generators make an enum of texts of it, which no JSON has.
  if (typeof schema.const === "boolean") delete schema.const;
  // Without it, generators choose a type that loses digits of amounts.
  if (schema.type === "number") schema.format = "double";
  // These need a flag that the document cannot state. Several patterns of one text are in `allOf`.
  const hasFlag = ({ pattern }: JsonSchema): boolean => pattern?.includes("\\p{") === true;
  if (hasFlag(schema)) delete schema.pattern;
  if (schema.allOf !== undefined) schema.allOf = schema.allOf.filter((each) => !hasFlag(each));
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}

/** Adds the field whose value selects an alternative, so that generated clients do not try all of them. */
function addDiscriminator({ _zod: { def } }: z.core.$ZodDiscriminatedUnion, schema: JsonSchema): void {
  const mapping = def.options.flatMap(({ _zod }, index) =>
    [...(_zod.propValues?.[def.discriminator] ?? [])].map((value) => [value, schema.oneOf?.[index]?.$ref]),
  );
  schema["discriminator"] = { propertyName: def.discriminator, mapping: Object.fromEntries(mapping) };
}
