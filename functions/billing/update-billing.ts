import { endpoint } from "../../shared/api/endpoint.ts";
import { saveBillingDetails } from "../../shared/payments/billing-details.ts";
import * as routes from "../../shared/routes/billing.ts";

export const handler = endpoint(routes.updateBilling, async ({ actor, body }) =>
  saveBillingDetails(actor.organizationId, body),
);
