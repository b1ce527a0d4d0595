import { endpoint } from "../../shared/api/endpoint.ts";
import { getOptOut } from "../../shared/opt-outs/opt-outs.ts";
import * as routes from "../../shared/routes/opt-outs.ts";

export const handler = endpoint(routes.getOptOut, async ({ actor, params }) =>
  getOptOut(actor.organizationId, params.phoneNumber),
);
