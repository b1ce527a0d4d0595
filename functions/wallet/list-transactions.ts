import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/wallet.ts";
import { listTransactions } from "../../shared/figures/statements/transactions.ts";

export const handler = endpoint(routes.listTransactions, async ({ actor, query }) =>
  listTransactions(actor.organizationId, query),
);
