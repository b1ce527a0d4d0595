import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { limitsOf } from "../../shared/platform/auth/actor.ts";
import { deleteWebhook, getWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(
  routes.deleteWebhook,
  async ({ actor, viewer, params }) => deleteWebhook(viewer, params.id, limitsOf(actor)),
  { readBefore: async ({ viewer, params }) => getWebhook(viewer, params.id) },
);
