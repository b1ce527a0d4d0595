import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { retryWebhookDelivery } from "../../shared/webhooks/manual-redelivery.ts";
import { checkWebhookVisible } from "../../shared/webhooks/record.ts";

export const handler = endpoint(routes.retryWebhookDelivery, async ({ actor, params }) => {
  await checkWebhookVisible(actor, params.id);
  return retryWebhookDelivery(actor.organizationId, params.id, params.deliveryId);
});
