import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/templates.ts";
import { createTemplate } from "../../shared/templates/templates.ts";

export const handler = endpoint(routes.createTemplate, async ({ actor, body }) =>
  createTemplate(actor.organizationId, body),
);
