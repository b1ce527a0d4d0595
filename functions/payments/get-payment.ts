import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/payments.ts";
import { getPayment } from "../../shared/money/payments/get.ts";

export const handler = endpoint(routes.getPayment, async ({ actor, params }) =>
  getPayment({ organizationId: actor.organizationId, paymentId: params.id }),
);
