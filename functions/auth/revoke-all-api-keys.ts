import { revokeAllApiKeys } from "../../shared/accounts/disable-api-keys.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.revokeAllApiKeys, async ({ actor, body }) =>
  revokeAllApiKeys(actor, body),
);
