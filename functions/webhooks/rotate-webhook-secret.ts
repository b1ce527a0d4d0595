import { endpoint } from "../../shared/platform/endpoint.ts";
import { routes } from "../../shared/routes.ts";
import { rotateWebhookSecret } from "../../shared/webhooks/endpoints.ts";

export const handler = endpoint(routes.rotateWebhookSecret, async ({ actor, params }) =>
  rotateWebhookSecret(actor.organizationId, params.id),
);
