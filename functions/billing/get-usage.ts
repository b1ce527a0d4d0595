import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/billing.ts";
import { getUsage } from "../../shared/figures/statements/usage.ts";

export const handler = endpoint(routes.getUsage, async ({ actor, query }) =>
  getUsage(actor.organizationId, query),
);
