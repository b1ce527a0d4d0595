import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sender-ids.ts";
import { createSenderId } from "../../shared/messages/sender-ids/sender-ids.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";

export const handler = endpoint(
  routes.createSenderId,
  storingResponse(async ({ actor, body }) => createSenderId(actor.organizationId, body)),
);
