import { endpoint } from "../../shared/api/endpoint.ts";
import { createPayment } from "../../shared/payments/create.ts";
import * as routes from "../../shared/routes/payments.ts";

export const handler = endpoint(routes.createPayment, async ({ actor, body, attempt }) =>
  createPayment(actor.organizationId, body, attempt),
);
