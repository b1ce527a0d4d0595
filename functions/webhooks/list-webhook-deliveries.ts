import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/webhooks.ts";
import { listWebhookDeliveries } from "../../shared/webhooks/list-deliveries.ts";

export const handler = endpoint(routes.listWebhookDeliveries, async ({ actor, params, query }) =>
  listWebhookDeliveries(actor.organizationId, params.id, query),
);
