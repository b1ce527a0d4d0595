import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/inbound.ts";
import { listInbound } from "../../shared/messages/inbound/list.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";

export const handler = endpoint(routes.listInbound, async ({ actor, query }) =>
  listInbound(actor.organizationId, query, hasTestKey(actor) ? { isTest: true } : {}),
);
