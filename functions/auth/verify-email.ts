import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import { verifyEmail } from "../../shared/proofs/verify-email.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = publicEndpoint(routes.verifyEmail, async ({ body, sourceIp }) =>
  verifyEmail(body, sourceIp),
);
