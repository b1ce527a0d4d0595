import { endpoint } from "../../shared/api/endpoint.ts";
import { requireScope } from "../../shared/platform/auth/actor.ts";
import * as routes from "../../shared/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/wallet/record.ts";
import { updateWallet } from "../../shared/wallet/update.ts";

export const handler = endpoint(
  routes.updateWallet,
  async ({ actor, body }) => {
    if (body.dailySpendCap !== undefined) requireScope(actor, "charge");
    return updateWallet(actor.organizationId, body);
  },
  async ({ actor }) => toApiWallet(await readWallet(actor.organizationId)),
);
