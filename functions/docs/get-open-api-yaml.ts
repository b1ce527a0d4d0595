import * as routes from "../../shared/api/routes/docs.ts";
import { openApiFile } from "../../shared/pages/docs/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.getOpenApiYaml, async ({ headers }) =>
  openApiFile("yaml", headers["accept-encoding"]),
);
