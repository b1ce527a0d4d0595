import * as routes from "../../shared/api/routes/brand.ts";
import { landingPage } from "../../shared/pages/landing/page.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.getRoot, landingPage);
