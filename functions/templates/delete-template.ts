import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/templates.ts";
import { deleteTemplate } from "../../shared/audience/templates/templates.ts";

export const handler = endpoint(routes.deleteTemplate, async ({ actor, params }) =>
  deleteTemplate(actor.organizationId, params.id),
);
