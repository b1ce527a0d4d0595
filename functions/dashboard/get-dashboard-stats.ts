import { getDashboardStats } from "../../shared/dashboard/stats.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/dashboard.ts";

export const handler = endpoint(routes.getDashboardStats, async ({ actor }) =>
  getDashboardStats(actor.organizationId),
);
