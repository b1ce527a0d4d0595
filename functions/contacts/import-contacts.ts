import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/contacts.ts";
import { importContacts, optsOut } from "../../shared/audience/contacts/import.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";

export const handler = endpoint(
  routes.importContacts,
  storingResponse(async ({ actor, body }) => importContacts(actor.organizationId, body)),
  { isAudited: ({ body }) => optsOut(body) },
);
