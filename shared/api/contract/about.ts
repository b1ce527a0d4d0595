import * as z from "zod/mini";

/** Returns a schema with its description, which the OpenAPI document shows. */
// @__NO_SIDE_EFFECTS__
export function about<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), description });
  return schema;
}

/** Returns the schema of an object with its name in the OpenAPI document. Unknown fields are left out. */
// @__NO_SIDE_EFFECTS__
export function namedObject<Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) {
  return z.object(shape).register(z.globalRegistry, { id });
}

/** Returns the schema of a choice with its name in the OpenAPI document. */
// @__NO_SIDE_EFFECTS__
export function namedEnum<const Values extends readonly string[]>(id: string, values: Values) {
  return z.enum(values).register(z.globalRegistry, { id });
}

/** Returns the schema of an object with its name in the OpenAPI document. Unknown fields are rejected. */
// @__NO_SIDE_EFFECTS__
export function namedStrictObject<Shape extends z.core.$ZodLooseShape>(id: string, shape: Shape) {
  return z.strictObject(shape).register(z.globalRegistry, { id });
}

/** Returns a schema with an example, which the OpenAPI document shows. */
// @__NO_SIDE_EFFECTS__
export function withExample<Schema extends z.ZodMiniType>(schema: Schema, example: z.input<Schema>): Schema {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), examples: [example] });
  return schema;
}
