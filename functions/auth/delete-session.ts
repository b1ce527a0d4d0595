import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { deleteSession } from "../../shared/accounts/sessions/list.ts";
import * as routes from "../../shared/api/routes/auth.ts";

export const handler = endpoint(routes.deleteSession, async ({ actor, params }) =>
  deleteSession(actor, params.id),
);
