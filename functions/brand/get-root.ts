import { landingPage } from "../../shared/landing/page.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/brand.ts";

export const handler = publicEndpoint(routes.getRoot, landingPage);
