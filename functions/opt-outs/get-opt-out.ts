import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/opt-outs.ts";
import { getOptOut } from "../../shared/messages/opt-outs/opt-outs.ts";

export const handler = endpoint(routes.getOptOut, async ({ actor, params }) =>
  getOptOut(actor.organizationId, params.phoneNumber),
);
