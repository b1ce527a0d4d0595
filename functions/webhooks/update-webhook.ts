import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { limitsOf } from "../../shared/platform/auth/actor.ts";
import { updateWebhook } from "../../shared/webhooks/update.ts";
import { getWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(
  routes.updateWebhook,
  async ({ actor, viewer, params, body }) => updateWebhook(viewer, params.id, body, limitsOf(actor)),
  { readBefore: async ({ viewer, params }) => getWebhook(viewer, params.id) },
);
