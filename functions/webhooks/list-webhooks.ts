import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";
import { listWebhooks } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(routes.listWebhooks, async ({ actor, query }) =>
  listWebhooks(actor.organizationId, query, { isTest: hasTestKey(actor) }),
);
