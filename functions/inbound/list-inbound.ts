import { endpoint } from "../../shared/api/endpoint.ts";
import { listInbound } from "../../shared/inbound/list.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";
import * as routes from "../../shared/routes/inbound.ts";

export const handler = endpoint(routes.listInbound, async ({ actor, query }) =>
  listInbound(actor.organizationId, query, hasTestKey(actor) ? { isTest: true } : {}),
);
