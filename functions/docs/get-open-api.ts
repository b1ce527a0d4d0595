import { openApiResponse } from "../../shared/docs/document.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import { routes } from "../../shared/routes/docs.ts";

export const handler = endpoint(routes.getOpenApi, async () => openApiResponse());
