import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { updateOrganization } from "../../shared/accounts/second-factor/requirement.ts";
import * as routes from "../../shared/api/routes/members.ts";
import { toApiOrganization } from "../../shared/tenancy/organizations/record.ts";

export const handler = endpoint(routes.updateOrganization, async ({ actor, organization, body }) => {
  await updateOrganization(actor, body);
  return { ...toApiOrganization(organization), ...body };
});
