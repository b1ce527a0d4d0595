import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/templates.ts";
import { createTemplate } from "../../shared/audience/templates/templates.ts";

export const handler = endpoint(routes.createTemplate, async ({ actor, body, attempt }) =>
  createTemplate(actor.organizationId, body, attempt),
);
