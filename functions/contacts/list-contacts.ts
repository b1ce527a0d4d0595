import { endpoint } from "../../shared/api/endpoint.ts";
import { listContacts } from "../../shared/contacts/contacts.ts";
import * as routes from "../../shared/routes/contacts.ts";

export const handler = endpoint(routes.listContacts, async ({ actor, query }) =>
  listContacts(actor.organizationId, query),
);
