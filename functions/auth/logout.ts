import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { logout } from "../../shared/accounts/sessions/logout.ts";
import * as routes from "../../shared/api/routes/auth.ts";

export const handler = endpoint(routes.logout, async ({ actor, endBrowserSession }) => {
  const loggedOut = await logout(actor);
  endBrowserSession();
  return loggedOut;
});
