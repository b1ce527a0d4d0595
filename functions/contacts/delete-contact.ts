import { endpoint } from "../../shared/api/endpoint.ts";
import { deleteContact } from "../../shared/contacts/contacts.ts";
import * as routes from "../../shared/routes/contacts.ts";

export const handler = endpoint(routes.deleteContact, async ({ actor, params }) =>
  deleteContact(actor.organizationId, params.id),
);
