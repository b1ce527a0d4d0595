import { endpoint } from "../../shared/api/endpoint.ts";
import { simulateInbound } from "../../shared/inbound/simulate.ts";
import * as routes from "../../shared/routes/inbound.ts";

export const handler = endpoint(routes.testInbound, async ({ actor, body }) =>
  simulateInbound(actor.organizationId, body),
);
