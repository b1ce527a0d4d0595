import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/webhooks.ts";
import { listWebhooks } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(routes.listWebhooks, async ({ actor, query }) =>
  listWebhooks(actor.organizationId, query),
);
