import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/templates.ts";
import { listTemplates } from "../../shared/audience/templates/templates.ts";

export const handler = endpoint(routes.listTemplates, async ({ actor, query }) =>
  listTemplates(actor.organizationId, query),
);
