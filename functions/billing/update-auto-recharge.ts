import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/billing.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";

export const handler = endpoint(routes.updateAutoRecharge, async ({ actor, body }) =>
  setAutoRecharge(actor.organizationId, body),
);
