import { changePassword } from "../../shared/accounts/authentication/change-password.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/credentials.ts";

export const handler = endpoint(
  routes.changePassword,
  async ({ actor, body, sourceIp, startBrowserSession }) => {
    const replaced = await changePassword(actor, body, sourceIp);
    if (replaced !== undefined) startBrowserSession(replaced.cookie, replaced.endsAt);
    return { changed: true } as const;
  },
);
