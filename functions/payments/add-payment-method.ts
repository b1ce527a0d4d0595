import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/payments.ts";
import { addPaymentMethod } from "../../shared/money/payments/methods.ts";
import { storingResponse } from "../../shared/platform/http/idempotency.ts";

export const handler = endpoint(
  routes.addPaymentMethod,
  storingResponse(async ({ actor, body }) => addPaymentMethod(actor.organizationId, body)),
);
