import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/contacts.ts";
import { getContact, updateContact } from "../../shared/audience/contacts/contacts.ts";

export const handler = endpoint(
  routes.updateContact,
  async ({ actor, params, body }) => updateContact(actor.organizationId, params.id, body),
  {
    readBefore: async ({ actor, params }) => getContact(actor.organizationId, params.id),
    isAudited: ({ body }) => body.optedOut !== undefined,
  },
);
