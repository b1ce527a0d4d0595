import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/webhooks.ts";
import { testWebhook } from "../../shared/webhooks/manual-redelivery.ts";

export const handler = endpoint(routes.testWebhook, async ({ actor, params }) =>
  testWebhook(actor.organizationId, params.id),
);
