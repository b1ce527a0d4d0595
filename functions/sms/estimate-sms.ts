import { endpoint } from "../../shared/api/endpoint.ts";
import { estimateMessage } from "../../shared/messages/estimate.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(routes.estimateSms, async ({ organization, body }) =>
  estimateMessage(organization, body),
);
