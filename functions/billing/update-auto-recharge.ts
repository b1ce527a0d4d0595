import { endpoint } from "../../shared/api/endpoint.ts";
import { setAutoRecharge } from "../../shared/payments/recharge.ts";
import * as routes from "../../shared/routes/billing.ts";

export const handler = endpoint(routes.updateAutoRecharge, async ({ actor, body }) =>
  setAutoRecharge(actor.organizationId, body),
);
