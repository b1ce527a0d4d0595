import { requireCharge } from "../../shared/accounts/sessions/recent-proof.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import { createPayment } from "../../shared/payments/create.ts";
import * as routes from "../../shared/routes/payments.ts";

export const handler = endpoint(routes.createPayment, async ({ actor, body, attempt }) => {
  if (body.paymentMethodId !== undefined) requireCharge(actor);
  return createPayment(actor.organizationId, body, attempt);
});
