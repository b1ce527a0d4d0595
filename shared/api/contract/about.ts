import * as z from "zod/mini";

/** Returns a schema with its description, which the OpenAPI document shows. */
// @__NO_SIDE_EFFECTS__
export function about<Schema extends z.ZodMiniType>(schema: Schema, description: string): Schema {
  z.globalRegistry.add(schema, { description });
  return schema;
}
