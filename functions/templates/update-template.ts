import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/templates.ts";
import { updateTemplate } from "../../shared/audience/templates/templates.ts";

export const handler = endpoint(routes.updateTemplate, async ({ actor, params, body }) =>
  updateTemplate(actor.organizationId, params.id, body),
);
