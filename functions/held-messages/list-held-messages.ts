import { endpoint } from "../../shared/api/endpoint.ts";
import { listHeldMessages } from "../../shared/messages/held.ts";
import * as routes from "../../shared/routes/held-messages.ts";

export const handler = endpoint(routes.listHeldMessages, async ({ actor, query }) =>
  listHeldMessages(actor.organizationId, query),
);
