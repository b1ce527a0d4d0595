import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { checkWebhookVisible } from "../../shared/webhooks/record.ts";
import { deleteWebhook, getWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(
  routes.deleteWebhook,
  async ({ actor, params }) => {
    await checkWebhookVisible(actor, params.id);
    return deleteWebhook(actor.organizationId, params.id);
  },
  async ({ actor, params }) => getWebhook(actor.organizationId, params.id),
);
