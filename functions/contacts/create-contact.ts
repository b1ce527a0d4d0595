import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/contacts.ts";
import { createContact } from "../../shared/audience/contacts/contacts.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";

export const handler = endpoint(
  routes.createContact,
  storingResponse(async ({ actor, body }) => createContact(actor.organizationId, body)),
  { isAudited: ({ body }) => body.optedOut },
);
