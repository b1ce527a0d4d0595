import * as routes from "../../shared/api/routes/console.ts";
import { consolePage } from "../../shared/pages/console/files.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.getConsole, async () => consolePage());
