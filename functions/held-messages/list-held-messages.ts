import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/held-messages.ts";
import { listHeldMessages } from "../../shared/messages/accept/held.ts";

export const handler = endpoint(routes.listHeldMessages, async ({ actor, query }) =>
  listHeldMessages(actor.organizationId, query),
);
