import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/exports.ts";
import { getExport } from "../../shared/figures/exports/read.ts";

export const handler = endpoint(routes.getExport, async ({ actor, params }) =>
  getExport(actor.organizationId, params.id),
);
