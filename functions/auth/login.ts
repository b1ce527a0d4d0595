import { login } from "../../shared/accounts/login.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import { routes } from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.login, async ({ body, sourceIp }) => login(body, sourceIp));
