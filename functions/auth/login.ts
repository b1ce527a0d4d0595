import { login } from "../../shared/accounts/authentication/login.ts";
import * as routes from "../../shared/api/routes/auth.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.login, async ({ body, sourceIp, headers }) =>
  login(body, sourceIp, headers["user-agent"]),
);
