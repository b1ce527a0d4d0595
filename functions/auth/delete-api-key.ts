import { deleteApiKey } from "../../shared/accounts/api-keys/list-and-delete.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";
import { toApiApiKey, readApiKey } from "../../shared/tenancy/api-keys/record.ts";
import { webhooksMadeWith } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(
  routes.deleteApiKey,
  // The key ends first, also if its webhooks cannot be listed.
  async ({ actor, params: { id } }) => ({
    ...(await deleteApiKey(actor, id)),
    webhooks: await webhooksMadeWith(actor.organizationId, id),
  }),
  { readBefore: async ({ actor, params }) => toApiApiKey(await readApiKey(actor.organizationId, params.id)) },
);
