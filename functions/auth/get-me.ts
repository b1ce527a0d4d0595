import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/auth.ts";
import { getAccount } from "../../shared/tenancy/organizations/account.ts";

export const handler = endpoint(routes.getMe, async ({ actor, organization }) =>
  getAccount(actor, organization),
);
