import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { logoutEverywhere } from "../../shared/accounts/sessions/logout.ts";
import * as routes from "../../shared/api/routes/auth.ts";

export const handler = endpoint(routes.logoutEverywhere, async ({ actor, endBrowserSession }) => {
  const loggedOut = await logoutEverywhere(actor);
  endBrowserSession();
  return loggedOut;
});
