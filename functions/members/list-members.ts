import { listMembers } from "../../shared/accounts/members.ts";
import { organizationOf } from "../../shared/accounts/organization-record.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/members.ts";

export const handler = endpoint(routes.listMembers, async ({ organization, query }) =>
  listMembers(organizationOf(organization), query),
);
