import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/payments.ts";
import { cancelPayment } from "../../shared/money/payments/cancel.ts";

export const handler = endpoint(routes.cancelPayment, async ({ actor, params }) =>
  cancelPayment({ organizationId: actor.organizationId, paymentId: params.id }),
);
