import { McpQuery, McpResponse } from "../contract/mcp.ts";
import type { Route } from "./route.ts";

export const callMcp = {
  method: "POST",
  path: "/mcp",
  summary: "Call a tool over the Model Context Protocol (streamable HTTP)",
  internal: true,
  scope: "read",
  limitedKeys: true,
  testKeys: true,
  query: McpQuery,
  data: McpResponse,
  raw: ["application/json"],
  errors: ["PAYLOAD_TOO_LARGE"],
} as const satisfies Route;

export const routes = { callMcp };
