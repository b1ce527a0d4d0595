import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/wallet/record.ts";
import { updateWallet } from "../../shared/wallet/update.ts";

export const handler = endpoint(
  routes.updateWallet,
  async ({ actor, body }) => updateWallet(actor.organizationId, body),
  async ({ actor }) => toApiWallet(await readWallet(actor.organizationId)),
);
