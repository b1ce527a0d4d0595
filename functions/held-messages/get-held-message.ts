import { endpoint } from "../../shared/api/endpoint.ts";
import { getHeldMessage } from "../../shared/messages/held.ts";
import * as routes from "../../shared/routes/held-messages.ts";

export const handler = endpoint(routes.getHeldMessage, async ({ actor, params }) =>
  getHeldMessage(actor.organizationId, params.id),
);
