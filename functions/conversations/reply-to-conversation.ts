import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/conversations.ts";
import { replyToConversation } from "../../shared/audience/conversations/reply.ts";

export const handler = endpoint(
  routes.replyToConversation,
  async ({ actor, organization, params, body, attempt, reportRateLimit }) =>
    replyToConversation(organization, params.id, body, { actor, attempt, reportRateLimit }),
);
