import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/opt-outs.ts";
import { optOut } from "../../shared/messages/opt-outs/opt-outs.ts";

export const handler = endpoint(routes.createOptOut, async ({ actor, body }) =>
  optOut(actor.organizationId, body.phoneNumber, "api"),
);
