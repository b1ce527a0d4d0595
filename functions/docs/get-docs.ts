import { docsPage } from "../../shared/docs/page.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import { routes } from "../../shared/routes/docs.ts";

export const handler = endpoint(routes.getDocs, async () => docsPage());
