import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/mcp.ts";
import { serveMcp } from "../../shared/pages/mcp/serve.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";

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
