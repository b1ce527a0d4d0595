import * as routes from "../../shared/api/routes/console.ts";
import { consoleFile } from "../../shared/pages/console/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.getConsoleFile, async ({ params, headers }) =>
  consoleFile(params.file, headers["accept-encoding"]),
);
