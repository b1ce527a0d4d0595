import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import { changeWallet } from "../../shared/accounts/organizations/change-wallet.ts";
import * as routes from "../../shared/api/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/money/wallet/record.ts";

export const handler = endpoint(routes.updateWallet, async ({ actor, body }) => changeWallet(actor, body), {
  readBefore: async ({ actor }) => toApiWallet(await readWallet(actor.organizationId)),
});
