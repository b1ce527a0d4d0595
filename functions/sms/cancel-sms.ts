import { endpoint } from "../../shared/api/endpoint.ts";
import { cancelMessage } from "../../shared/messages/cancel.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(routes.cancelSms, async ({ actor, params }) =>
  cancelMessage(actor.organizationId, params.id),
);
