import { apiVersion } from "../../shared/contract/health.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import { routes } from "../../shared/routes/health.ts";

export const handler = endpoint(routes.getHealth, async () => ({
  status: "ok" as const,
  version: apiVersion,
}));
