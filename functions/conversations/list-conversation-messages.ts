import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/conversations.ts";
import { listConversationMessages } from "../../shared/audience/conversations/conversations.ts";

export const handler = endpoint(routes.listConversationMessages, async ({ viewer, params, query }) =>
  listConversationMessages(viewer, params.id, query),
);
