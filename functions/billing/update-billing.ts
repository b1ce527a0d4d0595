import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/billing.ts";
import { saveBillingDetails } from "../../shared/money/payments/billing-details.ts";

export const handler = endpoint(routes.updateBilling, async ({ actor, body }) =>
  saveBillingDetails(actor.organizationId, body),
);
