import { endpoint } from "../../shared/api/endpoint.ts";
import { getContact, updateContact } from "../../shared/contacts/contacts.ts";
import * as routes from "../../shared/routes/contacts.ts";

export const handler = endpoint(
  routes.updateContact,
  async ({ actor, params, body }) => updateContact(actor.organizationId, params.id, body),
  async ({ actor, params }) => getContact(actor.organizationId, params.id),
  ({ body }) => body.optedOut !== undefined,
);
