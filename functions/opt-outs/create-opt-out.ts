import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/opt-outs.ts";
import { optOut } from "../../shared/messages/opt-outs/opt-outs.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";

export const handler = endpoint(
  routes.createOptOut,
  storingResponse(async ({ actor, body }) => optOut(actor.organizationId, body.phoneNumber, "api")),
);
