import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/templates.ts";
import { createTemplate } from "../../shared/audience/templates/templates.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";

export const handler = endpoint(
  routes.createTemplate,
  storingResponse(async ({ actor, body }) => createTemplate(actor.organizationId, body)),
);
