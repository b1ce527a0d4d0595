import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { checkWebhookVisible } from "../../shared/webhooks/record.ts";
import { getWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(routes.getWebhook, async ({ actor, params }) => {
  await checkWebhookVisible(actor, params.id);
  return getWebhook(actor.organizationId, params.id);
});
