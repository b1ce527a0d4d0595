import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { createHook } from "../../shared/accounts/hooks/create.ts";
import * as routes from "../../shared/api/routes/hooks.ts";

export const handler = endpoint(routes.createHook, async ({ actor, body }) => createHook(actor, body));
