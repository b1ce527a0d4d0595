import { endpoint } from "../../shared/api/endpoint.ts";
import { listOptOuts } from "../../shared/opt-outs/opt-outs.ts";
import * as routes from "../../shared/routes/opt-outs.ts";

export const handler = endpoint(routes.listOptOuts, async ({ actor, query }) =>
  listOptOuts(actor.organizationId, query),
);
