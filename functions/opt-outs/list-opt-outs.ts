import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/opt-outs.ts";
import { listOptOuts } from "../../shared/messages/opt-outs/opt-outs.ts";

export const handler = endpoint(routes.listOptOuts, async ({ actor, query }) =>
  listOptOuts(actor.organizationId, query),
);
