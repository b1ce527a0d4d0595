import { acceptInvitation } from "../../shared/accounts/members/accept-invitation.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = publicEndpoint(routes.acceptInvitation, async ({ body, sourceIp }) =>
  acceptInvitation(body, sourceIp),
);
