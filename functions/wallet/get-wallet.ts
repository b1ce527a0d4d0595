import { endpoint } from "../../shared/platform/endpoint.ts";
import { routes } from "../../shared/routes.ts";
import { presentWallet, readWallet } from "../../shared/wallet/wallet.ts";

export const handler = endpoint(routes.getWallet, async ({ actor }) =>
  presentWallet(await readWallet(actor.organizationId)),
);
