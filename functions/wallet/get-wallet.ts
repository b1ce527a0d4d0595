import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/wallet/record.ts";

export const handler = endpoint(routes.getWallet, async ({ actor }) =>
  toApiWallet(await readWallet(actor.organizationId)),
);
