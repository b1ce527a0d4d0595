import { endpoint } from "../../shared/api/endpoint.ts";
import { createPayment } from "../../shared/payments/create.ts";
import { requireCharge } from "../../shared/platform/auth/recent-proof.ts";
import * as routes from "../../shared/routes/payments.ts";

export const handler = endpoint(routes.createPayment, async ({ actor, body, attempt }) => {
  if (body.paymentMethodId !== undefined) requireCharge(actor);
  return createPayment(actor.organizationId, body, attempt);
});
