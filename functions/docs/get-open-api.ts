import * as routes from "../../shared/api/routes/docs.ts";
import { openApiFile } from "../../shared/pages/docs/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.getOpenApi, async ({ headers }) =>
  openApiFile("json", headers["accept-encoding"]),
);
