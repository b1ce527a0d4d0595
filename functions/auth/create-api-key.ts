import { createApiKey } from "../../shared/accounts/make-api-keys.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.createApiKey, async ({ actor, body }) => createApiKey(actor, body));
