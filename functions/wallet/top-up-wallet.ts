import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/wallet/record.ts";
import { topUpWallet } from "../../shared/wallet/top-up.ts";

export const handler = endpoint(
  routes.topUpWallet,
  async ({ actor, body, attempt }) => topUpWallet(actor.organizationId, body, attempt),
  async ({ actor }) => toApiWallet(await readWallet(actor.organizationId)),
);
