import { docsFile } from "../../shared/docs/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/docs.ts";

export const handler = publicEndpoint(routes.getDocsFile, async ({ params, headers }) =>
  docsFile(params.file, headers["accept-encoding"]),
);
