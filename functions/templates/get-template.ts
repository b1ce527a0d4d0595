import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/templates.ts";
import { getTemplate } from "../../shared/templates/templates.ts";

export const handler = endpoint(routes.getTemplate, async ({ actor, params }) =>
  getTemplate(actor.organizationId, params.id),
);
