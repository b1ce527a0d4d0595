import { deleteApiKey } from "../../shared/accounts/api-keys/list-and-delete.ts";
import { toApiApiKey, readApiKey } from "../../shared/accounts/api-keys/record.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/api-keys.ts";

export const handler = endpoint(
  routes.deleteApiKey,
  async ({ actor, params }) => deleteApiKey(actor, params.id),
  async ({ actor, params }) => toApiApiKey(await readApiKey(actor.organizationId, params.id)),
);
