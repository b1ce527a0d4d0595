import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { checkWebhookVisible } from "../../shared/webhooks/record.ts";
import { rotateWebhookSecret } from "../../shared/webhooks/rotate-secret.ts";

export const handler = endpoint(routes.rotateWebhookSecret, async ({ actor, params }) => {
  await checkWebhookVisible(actor, params.id);
  return rotateWebhookSecret(actor.organizationId, params.id);
});
