import { consolePage } from "../../shared/console/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/console.ts";

export const handler = publicEndpoint(routes.getConsole, async () => consolePage());
