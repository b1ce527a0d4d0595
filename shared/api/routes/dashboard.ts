import { DashboardStats } from "../contract/dashboard.ts";
import type { Route } from "./route.ts";

export const getDashboardStats = {
  method: "GET",
  path: "/v1/dashboard/stats",
  summary: "Get the balance, and the messages of today and of the last 30 days by status",
  description: "Use the usage of a month for bills, and this for an overview.",
  scope: "read",
  data: DashboardStats,
  errors: ["WALLET_MISSING"],
} as const satisfies Route;

export const routes = { getDashboardStats };
