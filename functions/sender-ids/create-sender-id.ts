import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/sender-ids.ts";
import { createSenderId } from "../../shared/sender-ids/sender-ids.ts";

export const handler = endpoint(routes.createSenderId, async ({ actor, body }) =>
  createSenderId(actor.organizationId, body),
);
