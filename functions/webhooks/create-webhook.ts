import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { createWebhook } from "../../shared/webhooks/create.ts";

export const handler = endpoint(routes.createWebhook, async ({ actor, viewer, body }) =>
  createWebhook(viewer, body, actor),
);
