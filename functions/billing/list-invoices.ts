import { endpoint } from "../../shared/api/endpoint.ts";
import { listInvoices } from "../../shared/invoices/list.ts";
import * as routes from "../../shared/routes/billing.ts";

export const handler = endpoint(routes.listInvoices, async ({ actor, query }) =>
  listInvoices(actor.organizationId, query),
);
