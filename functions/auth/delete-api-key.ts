import { deleteApiKey } from "../../shared/accounts/api-keys/list-and-delete.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";
import { toApiApiKey, readApiKey } from "../../shared/tenancy/api-keys/record.ts";
import { webhooksMadeWith } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(
  routes.deleteApiKey,
  async ({ actor, params: { id } }) => {
    // Before the deletion, after which no one knows which keys were made with it.
    const webhooks = await webhooksMadeWith(actor.organizationId, id);
    return { ...(await deleteApiKey(actor, id)), webhooks };
  },
  async ({ actor, params }) => toApiApiKey(await readApiKey(actor.organizationId, params.id)),
);
