import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/webhooks.ts";
import { getWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(routes.getWebhook, async ({ actor, params }) =>
  getWebhook(actor.organizationId, params.id),
);
