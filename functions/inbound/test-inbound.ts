import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/inbound.ts";
import { simulateInbound } from "../../shared/messages/inbound/simulate.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";

export const handler = endpoint(
  routes.testInbound,
  storingResponse(async ({ actor, body }) => simulateInbound(actor.organizationId, body)),
);
