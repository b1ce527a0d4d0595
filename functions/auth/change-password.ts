import { changePassword } from "../../shared/accounts/authentication/change-password.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { replaceSecret } from "../../shared/accounts/sessions/browser-session.ts";
import * as routes from "../../shared/api/routes/auth.ts";

export const handler = endpoint(
  routes.changePassword,
  async ({ actor, body, sourceIp, startBrowserSession }) => {
    const changed = await changePassword(actor, body, sourceIp);
    const replaced = await replaceSecret(actor);
    if (replaced !== undefined) startBrowserSession(replaced.cookie, replaced.endsAt);
    return changed;
  },
);
