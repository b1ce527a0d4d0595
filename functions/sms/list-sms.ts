import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { listMessages } from "../../shared/messages/search/list.ts";

export const handler = endpoint(routes.listSms, async ({ viewer, query }) => listMessages(viewer, query));
