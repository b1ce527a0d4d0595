import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/opt-outs.ts";
import { deleteOptOut, getOptOut } from "../../shared/messages/opt-outs/opt-outs.ts";

export const handler = endpoint(
  routes.deleteOptOut,
  async ({ actor, params }) => deleteOptOut(actor.organizationId, params.phoneNumber),
  { readBefore: async ({ actor, params }) => getOptOut(actor.organizationId, params.phoneNumber) },
);
