import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/billing.ts";
import { getAutoRecharge } from "../../shared/money/payments/recharge-state.ts";

export const handler = endpoint(routes.getAutoRecharge, async ({ actor }) =>
  getAutoRecharge(actor.organizationId),
);
