import { listInbound } from "../../shared/inbound/list.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/inbound.ts";

export const handler = endpoint(routes.listInbound, async ({ actor, query }) =>
  listInbound(actor.organizationId, query),
);
