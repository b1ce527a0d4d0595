import { endpoint } from "../../shared/api/endpoint.ts";
import { getPayment } from "../../shared/payments/get.ts";
import * as routes from "../../shared/routes/payments.ts";

export const handler = endpoint(routes.getPayment, async ({ actor, params }) =>
  getPayment({ organizationId: actor.organizationId, paymentId: params.id }),
);
