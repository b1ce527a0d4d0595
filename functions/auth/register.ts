import { register } from "../../shared/accounts/authentication/register.ts";
import * as routes from "../../shared/api/routes/auth.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.register, async ({ body, sourceIp, headers }) =>
  register(body, sourceIp, headers["user-agent"]),
);
