import { importContacts, optsOut } from "../../shared/contacts/import.ts";
import { endpoint } from "../../shared/platform/http/endpoint.ts";
import * as routes from "../../shared/routes/contacts.ts";

export const handler = endpoint(
  routes.importContacts,
  async ({ actor, body }) => importContacts(actor.organizationId, body),
  undefined,
  ({ body }) => optsOut(body),
);
