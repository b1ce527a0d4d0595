import { endpoint } from "../../shared/api/endpoint.ts";
import { optOut } from "../../shared/opt-outs/opt-outs.ts";
import * as routes from "../../shared/routes/opt-outs.ts";

export const handler = endpoint(routes.createOptOut, async ({ actor, body }) =>
  optOut(actor.organizationId, body.phoneNumber, "api"),
);
