import { login } from "../../shared/accounts/authentication/login.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = publicEndpoint(routes.login, async ({ body, sourceIp }) => login(body, sourceIp));
