import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { estimateMessage } from "../../shared/messages/accept/estimate.ts";

export const handler = endpoint(routes.estimateSms, async ({ viewer, organization, body }) =>
  estimateMessage(organization, body, viewer),
);
