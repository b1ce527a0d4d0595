import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/wallet.ts";
import { listLedger } from "../../shared/wallet/ledger.ts";
import { readWallet } from "../../shared/wallet/record.ts";

export const handler = endpoint(routes.listTransactions, async ({ actor, query }) =>
  listLedger(await readWallet(actor.organizationId), query),
);
