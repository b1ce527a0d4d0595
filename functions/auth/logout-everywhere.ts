import { logoutEverywhere } from "../../shared/accounts/sessions/logout.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.logoutEverywhere, async ({ actor }) => logoutEverywhere(actor));
