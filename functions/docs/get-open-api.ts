import { openApiResponse } from "../../shared/docs/document.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/docs.ts";

export const handler = publicEndpoint(routes.getOpenApi, async ({ headers }) =>
  openApiResponse(headers["accept-encoding"]),
);
