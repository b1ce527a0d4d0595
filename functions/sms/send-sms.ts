import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { acceptMessage } from "../../shared/messages/accept/accept-one.ts";

export const handler = endpoint(
  routes.sendSms,
  async ({ actor, organization, body, attempt, reportRateLimit }) =>
    acceptMessage(organization, body, { actor, attempt, reportRateLimit }),
);
