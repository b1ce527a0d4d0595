import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/webhooks.ts";
import { updateWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(routes.updateWebhook, async ({ actor, params, body }) =>
  updateWebhook(actor.organizationId, params.id, body),
);
