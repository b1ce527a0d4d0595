import { Health } from "../contract/health.ts";
import type { Route } from "./route.ts";

export const getHealth = {
  method: "GET",
  path: "/health",
  summary: "Check that the gateway responds",
  description: "Responds without a credential. Use it for uptime checks.",
  auth: "none",
  data: Health,
} as const satisfies Route;

export const routes = { getHealth };
