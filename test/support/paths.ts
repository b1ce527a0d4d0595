import * as z from "zod/mini";

import type { Route } from "../../shared/api/routes/route.ts";

/** The path of a route with ids that could be there and are not. */
export function pathOfNothing(route: Route): string {
  return route.path.replace(/\{(\w+)\}/g, (_, name: string) => unknownId(route, name));
}

const ParamsSchema = z.object({
  properties: z.record(
    z.string(),
    z.object({ pattern: z.optional(z.string()), enum: z.optional(z.array(z.string())) }),
  ),
});

/** An id in the format of the route's schema. */
function unknownId(route: Route, parameter: string): string {
  const { properties } = ParamsSchema.parse(z.toJSONSchema(route.params ?? z.never()));
  const { pattern = "", enum: [value] = [] } = properties[parameter] ?? {};
  if (value !== undefined) return value;
  const [, prefix = ""] = /^\^(\w+?)_/.exec(pattern) ?? [];
  return `${prefix}_01J00000000000000000000000`;
}
