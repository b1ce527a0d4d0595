import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { checkVisible, getMessage } from "../../shared/messages/message/read.ts";

export const handler = endpoint(routes.getSms, async ({ actor, params }) => {
  checkVisible(actor, params.id);
  return getMessage(actor.organizationId, params.id);
});
