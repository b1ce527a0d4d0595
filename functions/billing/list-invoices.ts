import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/billing.ts";
import { listInvoices } from "../../shared/money/invoices/read.ts";

export const handler = endpoint(routes.listInvoices, async ({ actor, query }) =>
  listInvoices(actor.organizationId, query),
);
