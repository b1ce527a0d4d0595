import { apiVersion } from "../../shared/contract/version.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/health.ts";

export const handler = publicEndpoint(routes.getHealth, async () => ({
  status: "ok" as const,
  version: apiVersion,
}));
