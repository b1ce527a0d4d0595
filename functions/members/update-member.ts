import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { getMember } from "../../shared/accounts/members/list.ts";
import { updateMember } from "../../shared/accounts/members/update.ts";
import * as routes from "../../shared/api/routes/members.ts";

export const handler = endpoint(
  routes.updateMember,
  async ({ actor, params, body }) => updateMember(actor, params.id, body),
  { readBefore: async ({ actor, params }) => getMember(actor.organizationId, params.id) },
);
