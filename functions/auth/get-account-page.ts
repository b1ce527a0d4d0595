import { accountPage } from "../../shared/accounts/emails/link-page.ts";
import * as routes from "../../shared/api/routes/credentials.ts";
import { publicEndpoint } from "../../shared/platform/http/public-endpoint.ts";

export const handler = publicEndpoint(routes.getAccountPage, async () => accountPage());
