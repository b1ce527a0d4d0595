import { toConsole } from "../../shared/docs/page.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/docs.ts";

export const handler = publicEndpoint(routes.getRoot, async () => toConsole);
