import { endpoint } from "../../shared/api/endpoint.ts";
import { serveMcp } from "../../shared/mcp/serve.ts";
import * as routes from "../../shared/routes/mcp.ts";

export const handler = endpoint(routes.callMcp, async ({ actor, query, headers, rawBody }) =>
  serveMcp({ scopes: actor.scopes, offersChanges: query.tools === "all", headers, body: rawBody }),
);
