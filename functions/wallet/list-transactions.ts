import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/wallet.ts";
import { listTransactions } from "../../shared/statements/transactions.ts";

export const handler = endpoint(routes.listTransactions, async ({ actor, query }) =>
  listTransactions(actor.organizationId, query),
);
