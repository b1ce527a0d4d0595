import { endpoint } from "../../shared/api/endpoint.ts";
import { acceptMessage } from "../../shared/messages/accept-one.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(
  routes.sendSms,
  async ({ actor, organization, body, attempt, reportRateLimit }) =>
    acceptMessage(organization, body, { actor, attempt, reportRateLimit }),
);
