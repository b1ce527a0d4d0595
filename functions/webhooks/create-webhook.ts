import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/webhooks.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";
import { createWebhook } from "../../shared/webhooks/create.ts";

export const handler = endpoint(routes.createWebhook, async ({ actor, body }) =>
  createWebhook(actor.organizationId, body, { isTest: hasTestKey(actor), createdBy: actor.userId }),
);
