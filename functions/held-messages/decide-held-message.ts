import { endpoint } from "../../shared/api/endpoint.ts";
import { decideHeldMessage } from "../../shared/messages/decide-held.ts";
import * as routes from "../../shared/routes/held-messages.ts";

export const handler = endpoint(
  routes.decideHeldMessage,
  async ({ actor, organization, params, body, reportRateLimit }) =>
    decideHeldMessage(organization, params.id, body, { actor, reportRateLimit }),
);
