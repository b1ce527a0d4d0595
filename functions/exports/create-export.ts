import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/exports.ts";
import { createExport } from "../../shared/figures/exports/create.ts";

export const handler = endpoint(routes.createExport, async ({ actor, body, attempt }) =>
  createExport(actor, body, attempt),
);
