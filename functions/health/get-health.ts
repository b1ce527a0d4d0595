import { apiVersion } from "../../shared/api/contract/version.ts";
import * as routes from "../../shared/api/routes/health.ts";
import { config } from "../../shared/platform/config.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.getHealth, async () => {
  const commit = config.commit();
  return { status: "ok" as const, version: apiVersion, ...(commit === undefined ? {} : { commit }) };
});
