import { endpoint } from "../../shared/api/endpoint.ts";
import { getAutoRecharge } from "../../shared/payments/recharge-state.ts";
import * as routes from "../../shared/routes/billing.ts";

export const handler = endpoint(routes.getAutoRecharge, async ({ actor }) =>
  getAutoRecharge(actor.organizationId),
);
