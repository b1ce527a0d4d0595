import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/dashboard.ts";
import { getDashboardStats } from "../../shared/figures/dashboard/stats.ts";

export const handler = endpoint(routes.getDashboardStats, async ({ actor }) =>
  getDashboardStats(actor.organizationId),
);
