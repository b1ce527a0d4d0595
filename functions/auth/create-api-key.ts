import { createApiKey } from "../../shared/accounts/api-keys/create-and-rotate.ts";
import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/api-keys.ts";

export const handler = endpoint(routes.createApiKey, async ({ actor, body }) => createApiKey(actor, body));
