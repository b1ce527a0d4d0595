import { resetPassword } from "../../shared/accounts/proofs/reset-password.ts";
import * as routes from "../../shared/api/routes/credentials.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.resetPassword, async ({ body, sourceIp }) =>
  resetPassword(body, sourceIp),
);
