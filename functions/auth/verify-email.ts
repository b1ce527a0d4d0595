import { verifyEmail } from "../../shared/accounts/proofs/verify-email.ts";
import * as routes from "../../shared/api/routes/auth.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.verifyEmail, async ({ body, sourceIp }) =>
  verifyEmail(body, sourceIp),
);
