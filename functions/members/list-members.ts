import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { listMembers } from "../../shared/accounts/members/list.ts";
import * as routes from "../../shared/api/routes/members.ts";

export const handler = endpoint(routes.listMembers, async ({ actor, query }) => listMembers(actor, query));
