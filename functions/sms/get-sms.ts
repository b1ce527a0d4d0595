import { endpoint } from "../../shared/api/endpoint.ts";
import { checkVisible, getMessage } from "../../shared/messages/read.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(routes.getSms, async ({ actor, params }) => {
  checkVisible(actor, params.id);
  return getMessage(actor.organizationId, params.id);
});
