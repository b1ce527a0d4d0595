import { listApiKeys } from "../../shared/accounts/api-keys/list-and-delete.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";

export const handler = endpoint(routes.listApiKeys, async ({ actor, query }) =>
  listApiKeys(actor.organizationId, query),
);
