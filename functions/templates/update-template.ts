import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/templates.ts";
import { updateTemplate } from "../../shared/templates/templates.ts";

export const handler = endpoint(routes.updateTemplate, async ({ actor, params, body }) =>
  updateTemplate(actor.organizationId, params.id, body),
);
