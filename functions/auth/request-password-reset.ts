import { requestPasswordReset } from "../../shared/accounts/passwords/request-reset.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = publicEndpoint(routes.requestPasswordReset, async ({ body, sourceIp }) =>
  requestPasswordReset(body, sourceIp),
);
