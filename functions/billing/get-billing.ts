import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/billing.ts";
import { readBilling, toApiBilling } from "../../shared/money/payments/billing-record.ts";

export const handler = endpoint(routes.getBilling, async ({ actor }) =>
  toApiBilling(await readBilling(actor.organizationId)),
);
