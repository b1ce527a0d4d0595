import { rotateApiKey } from "../../shared/accounts/api-keys/create-and-rotate.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";

export const handler = endpoint(routes.rotateApiKey, async ({ actor, params, body }) =>
  rotateApiKey(actor, params.id, body),
);
