import { organizationOf } from "../../shared/accounts/organization-record.ts";
import { estimateMessage } from "../../shared/messages/estimate.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(routes.estimateSms, async ({ organization, body }) =>
  estimateMessage(organizationOf(organization), body),
);
