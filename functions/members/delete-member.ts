import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { deleteMember } from "../../shared/accounts/members/delete.ts";
import { getMember } from "../../shared/accounts/members/list.ts";
import * as routes from "../../shared/api/routes/members.ts";
import { webhooksMadeBy } from "../../shared/webhooks/webhooks.ts";

export const handler = endpoint(
  routes.deleteMember,
  async ({ actor, params: { id } }) => {
    await deleteMember(actor, id);
    return { id, deleted: true as const, webhooks: await webhooksMadeBy(actor.organizationId, id) };
  },
  { readBefore: async ({ actor, params }) => getMember(actor.organizationId, params.id) },
);
