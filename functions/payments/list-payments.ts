import { endpoint } from "../../shared/api/endpoint.ts";
import { listPayments } from "../../shared/payments/record.ts";
import * as routes from "../../shared/routes/payments.ts";

export const handler = endpoint(routes.listPayments, async ({ actor, query }) =>
  listPayments(actor.organizationId, query),
);
