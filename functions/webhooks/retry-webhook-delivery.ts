import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/webhooks.ts";
import { retryWebhookDelivery } from "../../shared/webhooks/manual-redelivery.ts";

export const handler = endpoint(routes.retryWebhookDelivery, async ({ actor, params }) =>
  retryWebhookDelivery(actor.organizationId, params.id, params.deliveryId),
);
