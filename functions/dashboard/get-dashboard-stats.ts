import { endpoint } from "../../shared/api/endpoint.ts";
import { getDashboardStats } from "../../shared/dashboard/stats.ts";
import * as routes from "../../shared/routes/dashboard.ts";

export const handler = endpoint(routes.getDashboardStats, async ({ actor }) =>
  getDashboardStats(actor.organizationId),
);
