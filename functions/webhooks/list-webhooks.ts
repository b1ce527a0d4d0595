import { endpoint } from "../../shared/api/endpoint.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";
import * as routes from "../../shared/routes/webhooks.ts";
import { listWebhooks } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(routes.listWebhooks, async ({ actor, query }) =>
  listWebhooks(actor.organizationId, query, { isTest: hasTestKey(actor) }),
);
