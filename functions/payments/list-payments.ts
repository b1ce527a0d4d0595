import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/payments.ts";
import { listPayments } from "../../shared/money/payments/record.ts";

export const handler = endpoint(routes.listPayments, async ({ actor, query }) =>
  listPayments(actor.organizationId, query),
);
