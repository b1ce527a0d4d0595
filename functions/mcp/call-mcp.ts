import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/mcp.ts";
import { serveMcp } from "../../shared/pages/mcp/serve.ts";

export const handler = endpoint(routes.callMcp, async ({ actor, viewer, query, headers, rawBody }) =>
  serveMcp({
    scopes: actor.scopes,
    isTest: viewer.isTest,
    offersChanges: query.tools === "all",
    groups: query.groups?.split(","),
    headers,
    body: rawBody,
  }),
);
