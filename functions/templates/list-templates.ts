import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/templates.ts";
import { listTemplates } from "../../shared/templates/templates.ts";

export const handler = endpoint(routes.listTemplates, async ({ actor, query }) =>
  listTemplates(actor.organizationId, query),
);
