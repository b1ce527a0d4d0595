import * as routes from "../../shared/api/routes/docs.ts";
import { documentationPage } from "../../shared/pages/docs/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.getDocsPage, async ({ params, headers }) =>
  documentationPage(params.path, headers["accept-encoding"]),
);
