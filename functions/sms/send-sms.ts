import { organizationOf } from "../../shared/accounts/organization-record.ts";
import { acceptMessage } from "../../shared/messages/accept-one.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(
  routes.sendSms,
  async ({ actor, organization, body, attempt, reportRateLimit }) =>
    acceptMessage(actor.organizationId, body, {
      attempt,
      reportRateLimit,
      known: organizationOf(organization),
    }),
);
