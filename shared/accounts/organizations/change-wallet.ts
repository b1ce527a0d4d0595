import type { UpdateWalletRequest, Wallet } from "../../api/contract/wallet.ts";
import { readWallet, toApiWallet } from "../../money/wallet/record.ts";
import { newCapMicros, updateWallet } from "../../money/wallet/update.ts";
import { owedEmail } from "../../notices/emails/email-job.ts";
import { queueOwedEmails } from "../../notices/emails/queue-email.ts";
import { requireSession, type Actor } from "../../platform/auth/actor.ts";
import { requireCharge, requireRecentProof } from "../../platform/auth/recent-proof.ts";
import { putItem } from "../../platform/table/write.ts";
import { changeNotices } from "../../tenancy/organizations/owner-notices.ts";
import { setSendingPaused } from "./suspension.ts";

/**
 * Changes the spending limit, the low-balance threshold and the pause of an organization, as far as the caller may. Anyone
 * with the scope may pause. Owners are notified of another limit.
 * @throws ApiError INSUFFICIENT_SCOPE, REAUTHENTICATION_REQUIRED, and the errors of `updateWallet`
 */
export async function changeWallet(
  actor: Actor,
  { sendingPaused, ...limits }: UpdateWalletRequest,
): Promise<Wallet> {
  const { organizationId } = actor;
  const { dailySpendCap, lowBalanceThreshold } = limits;
  if (dailySpendCap !== undefined) requireCharge(actor);
  const present = await readWallet(organizationId);
  const isOtherCap = newCapMicros(present, dailySpendCap) !== undefined;
  if (lowBalanceThreshold !== undefined) {
    const { lowBalanceThreshold: threshold } = toApiWallet(present);
    // A lower threshold silences the warning, and so does one above the balance. The first one cannot.
    if (threshold !== undefined && threshold !== lowBalanceThreshold) requireRecentProof(actor);
  }
  if (sendingPaused === false) {
    requireSession(actor);
    requireRecentProof(actor);
  }
  const notices = isOtherCap ? await changeNotices(organizationId, "capChanged") : [];
  // Before the change, which cannot be part of a transaction: debits would keep it from a busy wallet.
  await Promise.all(notices.map(async (notice) => putItem(owedEmail(notice))));
  const wallet = await updateWallet(organizationId, limits);
  await queueOwedEmails(notices);
  return sendingPaused === undefined ? wallet : setSendingPaused(organizationId, sendingPaused);
}
