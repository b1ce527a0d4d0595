import { endpoint } from "../../shared/api/endpoint.ts";
import { removePaymentMethod } from "../../shared/payments/methods.ts";
import * as routes from "../../shared/routes/payments.ts";

export const handler = endpoint(routes.deletePaymentMethod, async ({ actor, params }) =>
  removePaymentMethod(actor.organizationId, params.id),
);
