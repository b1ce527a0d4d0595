import { requestPasswordReset } from "../../shared/accounts/passwords/request-reset.ts";
import * as routes from "../../shared/api/routes/credentials.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.requestPasswordReset, async ({ body, sourceIp }) =>
  requestPasswordReset(body, sourceIp),
);
