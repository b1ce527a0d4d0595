import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/billing.ts";
import { getInvoice } from "../../shared/money/invoices/read.ts";

export const handler = endpoint(routes.getInvoice, async ({ actor, params, headers }) =>
  getInvoice(actor.organizationId, params.id, headers["accept"]),
);
