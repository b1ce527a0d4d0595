import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/templates.ts";
import { deleteTemplate } from "../../shared/templates/templates.ts";

export const handler = endpoint(routes.deleteTemplate, async ({ actor, params }) =>
  deleteTemplate(actor.organizationId, params.id),
);
