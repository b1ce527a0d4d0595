import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";
import { retryWebhookDelivery } from "../../shared/webhooks/manual-redelivery.ts";

export const handler = endpoint(
  routes.retryWebhookDelivery,
  storingResponse(async ({ viewer, params }) => retryWebhookDelivery(viewer, params.id, params.deliveryId)),
);
