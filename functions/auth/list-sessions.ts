import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { listSessions } from "../../shared/accounts/sessions/list.ts";
import * as routes from "../../shared/api/routes/auth.ts";

export const handler = endpoint(routes.listSessions, async ({ actor, query }) => listSessions(actor, query));
