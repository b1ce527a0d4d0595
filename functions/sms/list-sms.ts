import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sms.ts";
import { listMessages } from "../../shared/messages/message/read.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";

export const handler = endpoint(routes.listSms, async ({ actor, query }) =>
  listMessages(actor.organizationId, query, hasTestKey(actor) ? { isTest: true } : {}),
);
