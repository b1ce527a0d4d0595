import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/sender-ids.ts";
import { listSenderIds } from "../../shared/sender-ids/sender-ids.ts";

export const handler = endpoint(routes.listSenderIds, async ({ actor, query }) =>
  listSenderIds(actor.organizationId, query),
);
