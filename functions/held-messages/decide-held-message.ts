import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/held-messages.ts";
import { decideHeldMessage } from "../../shared/messages/accept/decide-held.ts";

export const handler = endpoint(
  routes.decideHeldMessage,
  async ({ actor, organization, params, body, reportRateLimit }) =>
    decideHeldMessage(organization, params.id, body, { actor, reportRateLimit }),
);
