import { docsFile } from "../../shared/docs/files.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import { routes } from "../../shared/routes/docs.ts";

export const handler = endpoint(routes.getDocsFile, async ({ params, headers }) =>
  docsFile(params.file, headers["accept-encoding"]),
);
