import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { inviteMember } from "../../shared/accounts/members/invite.ts";
import * as routes from "../../shared/api/routes/members.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";

export const handler = endpoint(
  routes.inviteMember,
  storingResponse(async ({ actor, body }) => inviteMember(actor, body)),
);
