import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/conversations.ts";
import { listConversations } from "../../shared/audience/conversations/conversations.ts";

export const handler = endpoint(routes.listConversations, async ({ viewer, query }) =>
  listConversations(viewer, query),
);
