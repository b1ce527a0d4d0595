import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/payments.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import { requireCharge } from "../../shared/platform/auth/recent-proof.ts";

export const handler = endpoint(routes.createPayment, async ({ actor, body, attempt }) => {
  if (body.paymentMethodId !== undefined) requireCharge(actor);
  return createPayment(actor.organizationId, body, attempt);
});
