import { reauthenticate } from "../../shared/accounts/authentication/reauthenticate.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.reauthenticate, async ({ actor, body, sourceIp }) =>
  reauthenticate(actor, body, sourceIp),
);
