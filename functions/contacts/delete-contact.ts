import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/contacts.ts";
import { deleteContact } from "../../shared/audience/contacts/contacts.ts";

export const handler = endpoint(routes.deleteContact, async ({ actor, params }) =>
  deleteContact(actor.organizationId, params.id),
);
