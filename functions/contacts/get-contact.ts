import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/contacts.ts";
import { getContact } from "../../shared/audience/contacts/contacts.ts";

export const handler = endpoint(routes.getContact, async ({ actor, params }) =>
  getContact(actor.organizationId, params.id),
);
