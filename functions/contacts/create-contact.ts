import { endpoint } from "../../shared/api/endpoint.ts";
import { createContact } from "../../shared/contacts/contacts.ts";
import * as routes from "../../shared/routes/contacts.ts";

export const handler = endpoint(
  routes.createContact,
  async ({ actor, body }) => createContact(actor.organizationId, body),
  undefined,
  ({ body }) => body.optedOut,
);
