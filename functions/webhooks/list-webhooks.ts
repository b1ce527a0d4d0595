import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { listWebhooks } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(routes.listWebhooks, async ({ viewer, query }) =>
  listWebhooks(viewer, query),
);
