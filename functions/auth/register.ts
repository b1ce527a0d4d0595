import { register } from "../../shared/accounts/authentication/register.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = publicEndpoint(routes.register, async ({ body, sourceIp }) =>
  register(body, sourceIp),
);
