import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/contacts.ts";
import { listContacts } from "../../shared/audience/contacts/contacts.ts";

export const handler = endpoint(routes.listContacts, async ({ actor, query }) =>
  listContacts(actor.organizationId, query),
);
