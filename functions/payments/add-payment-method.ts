import { endpoint } from "../../shared/api/endpoint.ts";
import { addPaymentMethod } from "../../shared/payments/methods.ts";
import * as routes from "../../shared/routes/payments.ts";

export const handler = endpoint(routes.addPaymentMethod, async ({ actor, body }) =>
  addPaymentMethod(actor.organizationId, body),
);
