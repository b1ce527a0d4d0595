import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/inbound.ts";
import { listInbound } from "../../shared/messages/inbound/list.ts";

export const handler = endpoint(routes.listInbound, async ({ viewer, query }) => listInbound(viewer, query));
