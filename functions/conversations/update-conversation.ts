import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/conversations.ts";
import { updateConversation } from "../../shared/audience/conversations/conversations.ts";

export const handler = endpoint(routes.updateConversation, async ({ viewer, params, body }) =>
  updateConversation(viewer, params.id, body),
);
