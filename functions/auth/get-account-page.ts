import { accountPage } from "../../shared/accounts/emails/link-page.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = publicEndpoint(routes.getAccountPage, async () => accountPage());
