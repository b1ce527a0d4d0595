import { endpoint } from "../../shared/api/endpoint.ts";
import { cancelMessage } from "../../shared/messages/cancel.ts";
import { checkVisible } from "../../shared/messages/read.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(routes.cancelSms, async ({ actor, params }) => {
  checkVisible(actor, params.id);
  return cancelMessage(actor.organizationId, params.id);
});
