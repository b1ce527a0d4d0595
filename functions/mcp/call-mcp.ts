import { endpoint } from "../../shared/api/endpoint.ts";
import { serveMcp } from "../../shared/mcp/serve.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";
import * as routes from "../../shared/routes/mcp.ts";

export const handler = endpoint(routes.callMcp, async ({ actor, query, headers, rawBody }) =>
  serveMcp({
    scopes: actor.scopes,
    isTest: hasTestKey(actor),
    offersChanges: query.tools === "all",
    groups: query.groups?.split(","),
    headers,
    body: rawBody,
  }),
);
