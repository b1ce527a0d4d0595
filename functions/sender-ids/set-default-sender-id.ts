import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/sender-ids.ts";
import { setDefaultSenderId } from "../../shared/sender-ids/sender-ids.ts";

export const handler = endpoint(routes.setDefaultSenderId, async ({ actor, params }) =>
  setDefaultSenderId(actor.organizationId, params.id),
);
