import { changePassword } from "../../shared/accounts/authentication/change-password.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.changePassword, async ({ actor, body, sourceIp }) =>
  changePassword(actor, body, sourceIp),
);
