import { consoleFile } from "../../shared/console/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/console.ts";

export const handler = publicEndpoint(routes.getConsoleFile, async ({ params, headers }) =>
  consoleFile(params.file, headers["accept-encoding"]),
);
