import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { listWebhookDeliveries } from "../../shared/webhooks/list-deliveries.ts";

export const handler = endpoint(routes.listWebhookDeliveries, async ({ viewer, params, query }) =>
  listWebhookDeliveries(viewer, params.id, query),
);
