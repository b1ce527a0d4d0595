import { logout } from "../../shared/accounts/sessions/logout.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.logout, async ({ actor }) => logout(actor));
