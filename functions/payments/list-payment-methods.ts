import { endpoint } from "../../shared/api/endpoint.ts";
import { listPaymentMethods } from "../../shared/payments/methods.ts";
import * as routes from "../../shared/routes/payments.ts";

export const handler = endpoint(routes.listPaymentMethods, async ({ actor }) =>
  listPaymentMethods(actor.organizationId),
);
