import { deleteApiKey } from "../../shared/accounts/api-keys/list-and-delete.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";
import { toApiApiKey, readApiKey } from "../../shared/tenancy/api-keys/record.ts";

export const handler = endpoint(
  routes.deleteApiKey,
  async ({ actor, params }) => deleteApiKey(actor, params.id),
  async ({ actor, params }) => toApiApiKey(await readApiKey(actor.organizationId, params.id)),
);
