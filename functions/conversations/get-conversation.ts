import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/conversations.ts";
import { getConversation } from "../../shared/audience/conversations/conversations.ts";

export const handler = endpoint(routes.getConversation, async ({ viewer, params }) =>
  getConversation(viewer, params.id),
);
