import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/billing.ts";
import { getUsage } from "../../shared/statements/usage.ts";

export const handler = endpoint(routes.getUsage, async ({ actor, query }) =>
  getUsage(actor.organizationId, query),
);
