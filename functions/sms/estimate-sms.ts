import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { estimateMessage } from "../../shared/messages/accept/estimate.ts";
import { isTestRequest } from "../../shared/messages/message/test-messages.ts";

export const handler = endpoint(routes.estimateSms, async ({ actor, organization, body }) =>
  estimateMessage(organization, body, { isTest: isTestRequest(actor, body) }),
);
