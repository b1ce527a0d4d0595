import { listMembers } from "../../shared/accounts/members/list.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/members.ts";

export const handler = endpoint(routes.listMembers, async ({ actor, query }) => listMembers(actor, query));
