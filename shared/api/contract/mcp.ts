import * as z from "zod/mini";

import { about } from "./about.ts";

export const McpQuery = z.object({
  tools: about(
    z._default(z.enum(["read", "all"]), "read"),
    "The tools that are offered: those that change nothing, or all that the credential may use.",
  ),
  groups: about(
    z.optional(z.string().check(z.regex(/^[a-z-]+(,[a-z-]+)*$/))),
    "The groups of tools that are offered, such as `sms,webhooks`. By default, all.",
  ),
});
export type McpQuery = z.infer<typeof McpQuery>;

/** A message of JSON-RPC 2.0, or a list of them. */
export const McpResponse = z.unknown().register(z.globalRegistry, { id: "McpResponse" });
