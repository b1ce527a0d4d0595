import { endpoint } from "../../shared/api/endpoint.ts";
import { getContact } from "../../shared/contacts/contacts.ts";
import * as routes from "../../shared/routes/contacts.ts";

export const handler = endpoint(routes.getContact, async ({ actor, params }) =>
  getContact(actor.organizationId, params.id),
);
