import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/inbound.ts";
import { listNumbersOf } from "../../shared/messages/numbers/list.ts";

export const handler = endpoint(routes.listNumbers, async ({ actor, query }) =>
  listNumbersOf(actor.organizationId, query),
);
