import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { listWebhookDeliveries } from "../../shared/webhooks/list-deliveries.ts";
import { checkWebhookVisible } from "../../shared/webhooks/record.ts";

export const handler = endpoint(routes.listWebhookDeliveries, async ({ actor, params, query }) => {
  await checkWebhookVisible(actor, params.id);
  return listWebhookDeliveries(actor.organizationId, params.id, query);
});
