import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { checkWebhookVisible } from "../../shared/webhooks/record.ts";
import { getWebhook, updateWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(
  routes.updateWebhook,
  async ({ actor, params, body }) => {
    await checkWebhookVisible(actor, params.id);
    return updateWebhook(actor.organizationId, params.id, body);
  },
  async ({ actor, params }) => getWebhook(actor.organizationId, params.id),
);
