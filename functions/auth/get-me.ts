import { getAccount } from "../../shared/accounts/account.ts";
import { organizationOf } from "../../shared/accounts/organization-record.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/auth.ts";

export const handler = endpoint(routes.getMe, async ({ actor, organization }) =>
  getAccount(actor, organizationOf(organization)),
);
