import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/held-messages.ts";
import { getHeldMessage } from "../../shared/messages/accept/held.ts";

export const handler = endpoint(routes.getHeldMessage, async ({ actor, params }) =>
  getHeldMessage(actor.organizationId, params.id),
);
