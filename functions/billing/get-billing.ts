import { endpoint } from "../../shared/api/endpoint.ts";
import { readBilling, toApiBilling } from "../../shared/payments/billing-record.ts";
import * as routes from "../../shared/routes/billing.ts";

export const handler = endpoint(routes.getBilling, async ({ actor }) =>
  toApiBilling(await readBilling(actor.organizationId)),
);
