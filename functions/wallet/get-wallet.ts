import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/money/wallet/record.ts";

export const handler = endpoint(routes.getWallet, async ({ actor }) =>
  toApiWallet(await readWallet(actor.organizationId)),
);
