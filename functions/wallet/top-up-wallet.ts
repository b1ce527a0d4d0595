import { endpoint } from "../../shared/accounts/callers/endpoint.ts";
import * as routes from "../../shared/api/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/money/wallet/record.ts";
import { topUpWallet } from "../../shared/money/wallet/top-up.ts";

export const handler = endpoint(
  routes.topUpWallet,
  async ({ actor, body, attempt }) => topUpWallet(actor.organizationId, body, attempt),
  { readBefore: async ({ actor }) => toApiWallet(await readWallet(actor.organizationId)) },
);
