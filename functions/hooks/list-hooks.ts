import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { listHooks } from "../../shared/accounts/hooks/list-and-delete.ts";
import * as routes from "../../shared/api/routes/hooks.ts";

export const handler = endpoint(routes.listHooks, async ({ actor, query }) =>
  listHooks(actor.organizationId, query),
);
