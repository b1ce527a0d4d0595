import { endpoint } from "../../shared/api/endpoint.ts";
import { listMessages } from "../../shared/messages/read.ts";
import { hasTestKey } from "../../shared/platform/auth/actor.ts";
import * as routes from "../../shared/routes/sms.ts";

export const handler = endpoint(routes.listSms, async ({ actor, query }) =>
  listMessages(actor.organizationId, query, hasTestKey(actor) ? { isTest: true } : {}),
);
