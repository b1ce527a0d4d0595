import { acceptInvitation } from "../../shared/accounts/members/accept-invitation.ts";
import * as routes from "../../shared/api/routes/auth.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.acceptInvitation, async ({ body, sourceIp }) =>
  acceptInvitation(body, sourceIp),
);
