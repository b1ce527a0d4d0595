import { revokeAllApiKeys } from "../../shared/accounts/api-keys/disable-and-revoke.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";

export const handler = endpoint(routes.revokeAllApiKeys, async ({ actor, body }) =>
  revokeAllApiKeys(actor, body),
);
