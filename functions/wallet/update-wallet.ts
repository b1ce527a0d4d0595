import { changeNotices } from "../../shared/accounts/organizations/owner-notices.ts";
import { setSendingPaused } from "../../shared/accounts/organizations/suspension.ts";
import { requireCharge, requireRecentProof } from "../../shared/accounts/sessions/recent-proof.ts";
import { endpoint } from "../../shared/api/endpoint.ts";
import { owedEmail } from "../../shared/emails/email-job.ts";
import { queueOwedEmails } from "../../shared/emails/queue-email.ts";
import { putItem } from "../../shared/platform/table/write.ts";
import * as routes from "../../shared/routes/wallet.ts";
import { toApiWallet, readWallet } from "../../shared/wallet/record.ts";
import { updateWallet } from "../../shared/wallet/update.ts";

export const handler = endpoint(
  routes.updateWallet,
  async ({ actor, body: { sendingPaused, ...limits } }) => {
    const changesCap = limits.dailySpendCap !== undefined;
    if (changesCap) requireCharge(actor);
    // Anyone with the scope may pause. A key cannot resume.
    if (sendingPaused === false) requireRecentProof(actor);
    const notices = changesCap ? await changeNotices(actor.organizationId, "capChanged") : [];
    // Before the change, which cannot be part of a transaction: debits would keep it from a busy wallet.
    await Promise.all(notices.map(async (notice) => putItem(owedEmail(notice))));
    const wallet = await updateWallet(actor.organizationId, limits);
    await queueOwedEmails(notices);
    return sendingPaused === undefined ? wallet : setSendingPaused(actor.organizationId, sendingPaused);
  },
  async ({ actor }) => toApiWallet(await readWallet(actor.organizationId)),
);
