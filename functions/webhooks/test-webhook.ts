import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";
import { testWebhook } from "../../shared/webhooks/manual-redelivery.ts";

export const handler = endpoint(
  routes.testWebhook,
  storingResponse(async ({ viewer, params }) => testWebhook(viewer, params.id)),
);
