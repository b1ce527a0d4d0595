import { register } from "../../shared/accounts/register.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import { routes } from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.register, async ({ body }) => register(body));
