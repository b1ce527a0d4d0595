import { endpoint } from "../../shared/api/endpoint.ts";
import { deleteOptOut, getOptOut } from "../../shared/opt-outs/opt-outs.ts";
import * as routes from "../../shared/routes/opt-outs.ts";

export const handler = endpoint(
  routes.deleteOptOut,
  async ({ actor, params }) => deleteOptOut(actor.organizationId, params.phoneNumber),
  async ({ actor, params }) => getOptOut(actor.organizationId, params.phoneNumber),
);
