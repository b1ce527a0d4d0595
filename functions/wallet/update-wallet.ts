import { setSendingPaused } from "../../shared/accounts/organizations/suspension.ts";
import { requireCharge, requireRecentProof } from "../../shared/accounts/sessions/recent-proof.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import * as routes from "../../shared/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/wallet/record.ts";
import { updateWallet } from "../../shared/wallet/update.ts";

export const handler = endpoint(
  routes.updateWallet,
  async ({ actor, body: { sendingPaused, ...limits } }) => {
    if (limits.dailySpendCap !== undefined) requireCharge(actor);
    // Anyone with the scope may pause. A key cannot resume.
    if (sendingPaused === false) requireRecentProof(actor);
    const wallet = await updateWallet(actor.organizationId, limits);
    return sendingPaused === undefined ? wallet : setSendingPaused(actor.organizationId, sendingPaused);
  },
  async ({ actor }) => toApiWallet(await readWallet(actor.organizationId)),
);
