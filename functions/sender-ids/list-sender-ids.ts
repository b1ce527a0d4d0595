import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sender-ids.ts";
import { listSenderIds } from "../../shared/messages/sender-ids/sender-ids.ts";

export const handler = endpoint(routes.listSenderIds, async ({ actor, query }) =>
  listSenderIds(actor.organizationId, query),
);
