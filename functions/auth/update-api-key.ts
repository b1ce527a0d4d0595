import { updateApiKey } from "../../shared/accounts/api-keys/limits.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";
import { toApiApiKey, readApiKey } from "../../shared/tenancy/api-keys/record.ts";

export const handler = endpoint(
  routes.updateApiKey,
  async ({ actor, params, body }) => updateApiKey(actor, params.id, body),
  { readBefore: async ({ actor, params }) => toApiApiKey(await readApiKey(actor.organizationId, params.id)) },
);
