import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { getMessage } from "../../shared/messages/message/read.ts";

export const handler = endpoint(routes.getSms, async ({ viewer, params }) => getMessage(viewer, params.id));
