import { changeWallet } from "../../shared/accounts/organizations/change-wallet.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/wallet/record.ts";

export const handler = endpoint(
  routes.updateWallet,
  async ({ actor, body }) => changeWallet(actor, body),
  async ({ actor }) => toApiWallet(await readWallet(actor.organizationId)),
);
