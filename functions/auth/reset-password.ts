import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import { resetPassword } from "../../shared/proofs/reset-password.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = publicEndpoint(routes.resetPassword, async ({ body, sourceIp }) =>
  resetPassword(body, sourceIp),
);
