import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { testWebhook } from "../../shared/webhooks/manual-redelivery.ts";
import { checkWebhookVisible } from "../../shared/webhooks/record.ts";

export const handler = endpoint(routes.testWebhook, async ({ actor, params }) => {
  await checkWebhookVisible(actor, params.id);
  return testWebhook(actor.organizationId, params.id);
});
