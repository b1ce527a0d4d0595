import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { deleteHook, getHook } from "../../shared/accounts/hooks/list-and-delete.ts";
import * as routes from "../../shared/api/routes/hooks.ts";

export const handler = endpoint(
  routes.deleteHook,
  async ({ actor, params }) => deleteHook(actor, params.id),
  { readBefore: async ({ actor, params }) => getHook(actor.organizationId, params.id) },
);
