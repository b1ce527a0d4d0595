import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { getWebhook, updateWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(
  routes.updateWebhook,
  async ({ viewer, params, body }) => updateWebhook(viewer, params.id, body),
  async ({ viewer, params }) => getWebhook(viewer, params.id),
);
