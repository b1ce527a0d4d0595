import { getAccount } from "../../shared/accounts/organizations/account.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.getMe, async ({ actor, organization }) =>
  getAccount(actor, organization),
);
