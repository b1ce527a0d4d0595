import { deleteMember } from "../../shared/accounts/members/delete.ts";
import { getMember } from "../../shared/accounts/members/list.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/members.ts";

export const handler = endpoint(
  routes.deleteMember,
  async ({ actor, params }) => deleteMember(actor, params.id),
  async ({ actor, params }) => getMember(actor.organizationId, params.id),
);
