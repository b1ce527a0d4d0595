import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/inbound.ts";
import { simulateInbound } from "../../shared/messages/inbound/simulate.ts";

export const handler = endpoint(routes.testInbound, async ({ actor, body }) =>
  simulateInbound(actor.organizationId, body),
);
