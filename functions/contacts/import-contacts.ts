import { endpoint } from "../../shared/api/endpoint.ts";
import { importContacts, optsOut } from "../../shared/contacts/import.ts";
import * as routes from "../../shared/routes/contacts.ts";

export const handler = endpoint(
  routes.importContacts,
  async ({ actor, body }) => importContacts(actor.organizationId, body),
  undefined,
  ({ body }) => optsOut(body),
);
