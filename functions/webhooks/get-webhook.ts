import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { getWebhook } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(routes.getWebhook, async ({ viewer, params }) =>
  getWebhook(viewer, params.id),
);
