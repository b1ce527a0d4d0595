import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/contacts.ts";
import { importContacts, optsOut } from "../../shared/audience/contacts/import.ts";

export const handler = endpoint(
  routes.importContacts,
  async ({ actor, body }) => importContacts(actor.organizationId, body),
  undefined,
  ({ body }) => optsOut(body),
);
