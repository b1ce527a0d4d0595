import { reauthenticate } from "../../shared/accounts/authentication/reauthenticate.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/auth.ts";

export const handler = endpoint(routes.reauthenticate, async ({ actor, body, sourceIp }) =>
  reauthenticate(actor, body, sourceIp),
);
