import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/templates.ts";
import { getTemplate } from "../../shared/audience/templates/templates.ts";

export const handler = endpoint(routes.getTemplate, async ({ actor, params }) =>
  getTemplate(actor.organizationId, params.id),
);
