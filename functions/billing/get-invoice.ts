import { endpoint } from "../../shared/api/endpoint.ts";
import { getInvoice } from "../../shared/invoices/list.ts";
import * as routes from "../../shared/routes/billing.ts";

export const handler = endpoint(routes.getInvoice, async ({ actor, params, headers }) =>
  getInvoice(actor.organizationId, params.id, headers["accept"]),
);
