import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/sender-ids.ts";
import { setDefaultSenderId } from "../../shared/messages/sender-ids/sender-ids.ts";

export const handler = endpoint(routes.setDefaultSenderId, async ({ actor, params }) =>
  setDefaultSenderId(actor.organizationId, params.id),
);
