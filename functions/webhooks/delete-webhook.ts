import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/webhooks.ts";
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
