import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { cancelMessage } from "../../shared/messages/outcome/cancel.ts";

export const handler = endpoint(routes.cancelSms, async ({ viewer, params }) =>
  cancelMessage(viewer, params.id),
);
