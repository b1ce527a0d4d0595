import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/payments.ts";
import { removePaymentMethod } from "../../shared/money/payments/methods.ts";

export const handler = endpoint(routes.deletePaymentMethod, async ({ actor, params }) =>
  removePaymentMethod(actor.organizationId, params.id),
);
