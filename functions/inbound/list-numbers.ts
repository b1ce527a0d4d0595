import { endpoint } from "../../shared/api/endpoint.ts";
import { listNumbersOf } from "../../shared/numbers/list.ts";
import * as routes from "../../shared/routes/inbound.ts";

export const handler = endpoint(routes.listNumbers, async ({ actor, query }) =>
  listNumbersOf(actor.organizationId, query),
);
