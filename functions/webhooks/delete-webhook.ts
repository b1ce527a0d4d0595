import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { deleteWebhook, getWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(
  routes.deleteWebhook,
  async ({ viewer, params }) => deleteWebhook(viewer, params.id),
  async ({ viewer, params }) => getWebhook(viewer, params.id),
);
