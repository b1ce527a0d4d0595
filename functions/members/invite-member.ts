import { inviteMember } from "../../shared/accounts/members/invite.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/members.ts";

export const handler = endpoint(routes.inviteMember, async ({ actor, body }) => inviteMember(actor, body));
