import { disableApiKey } from "../../shared/accounts/api-keys/disable-and-revoke.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";
import { webhooksMadeWith } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(routes.disableApiKey, async ({ actor, params: { id }, body }) => ({
  ...(await disableApiKey(actor, id, body)),
  webhooks: await webhooksMadeWith(actor.organizationId, id),
}));
