import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/payments.ts";
import { listPaymentMethods } from "../../shared/money/payments/methods.ts";

export const handler = endpoint(routes.listPaymentMethods, async ({ actor }) =>
  listPaymentMethods(actor.organizationId),
);
