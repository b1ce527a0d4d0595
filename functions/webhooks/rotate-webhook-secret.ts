import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { limitsOf } from "../../shared/platform/auth/actor.ts";
import { rotateWebhookSecret } from "../../shared/webhooks/rotate-secret.ts";

export const handler = endpoint(routes.rotateWebhookSecret, async ({ actor, viewer, params }) =>
  rotateWebhookSecret(viewer, params.id, limitsOf(actor)),
);
