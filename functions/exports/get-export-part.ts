import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/exports.ts";
import { getExportPart } from "../../shared/figures/exports/read.ts";

export const handler = endpoint(routes.getExportPart, async ({ actor, params, headers }) =>
  getExportPart(actor.organizationId, params.id, Number(params.part), headers["accept"]),
);
