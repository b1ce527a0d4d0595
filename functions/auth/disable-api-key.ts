import { disableApiKey } from "../../shared/accounts/api-keys/disable.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";

export const handler = endpoint(routes.disableApiKey, async ({ actor, params, body }) =>
  disableApiKey(actor, params.id, body),
);
