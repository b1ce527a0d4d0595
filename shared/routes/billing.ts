import { Usage, UsageQuery } from "../contract/billing.ts";
import type { Route } from "./route.ts";

export const getUsage = {
  method: "GET",
  path: "/v1/usage",
  tag: "billing",
  summary: "Get the messages and costs of a month by day, country, campaign or API key",
  auth: "bearer",
  scope: "read",
  query: UsageQuery,
  status: 200,
  data: Usage,
  errors: ["WALLET_MISSING"],
} as const satisfies Route;

export const routes = { getUsage };
