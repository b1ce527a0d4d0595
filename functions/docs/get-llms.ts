import { documentationPage } from "../../shared/docs/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/docs.ts";

export const handler = publicEndpoint(routes.getLlms, async ({ headers }) =>
  documentationPage("llms.txt", headers["accept-encoding"]),
);
