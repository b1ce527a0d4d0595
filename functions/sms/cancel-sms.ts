import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { checkVisible } from "../../shared/messages/message/read.ts";
import { cancelMessage } from "../../shared/messages/outcome/cancel.ts";

export const handler = endpoint(routes.cancelSms, async ({ actor, params }) => {
  checkVisible(actor, params.id);
  return cancelMessage(actor.organizationId, params.id);
});
