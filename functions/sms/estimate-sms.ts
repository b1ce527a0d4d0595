import { endpoint } from "../../shared/api/endpoint.ts";
import { estimateMessage } from "../../shared/messages/estimate.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(routes.estimateSms, async ({ actor, organization, body }) =>
  estimateMessage(organization, body, { isTest: hasTestKey(actor) }),
);
