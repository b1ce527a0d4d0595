import { keysOfNewWallet } from "../../money/wallet/record.ts";
import { minuteMs, now, secondMs } from "../../platform/clock.ts";
import { workOnPending } from "../../platform/jobs/pending-work.ts";
import { shardCount } from "../../platform/jobs/shards.ts";
import { log } from "../../platform/log.ts";
import { keys } from "../../platform/table/keys.ts";
import { transact } from "../../platform/table/transact.ts";
import { deleteItem, updateOf } from "../../platform/table/write.ts";
import { findOrganization } from "../../tenancy/organizations/record.ts";
import { doesNotExpire } from "../organizations/verification.ts";
import { eraseOrganization, findOpenPayment } from "./organization.ts";

/*
 * If a stage requires verified emails, an account that is not verified expires after a week. Its email address is then
 * free for its real owner. Registration adds the organization to the pending-work index, and its verification removes
 * it.
 */

/** A run ends after this time, before the function's time-out. The next run continues with the rest. */
const runTimeMs = 4 * minuteMs + 30 * secondMs;

const reason = "never verified";

/**
 * Erases the accounts that were not verified within a week. An account whose wallet has ever had a movement stays, and
 * the operator decides on it, so that no money is lost.
 * @returns the number of erased accounts
 */
export async function expireAccounts(): Promise<number> {
  const deadline = now().getTime() + runTimeMs;
  let expired = 0;
  for (let shard = 0; shard < shardCount; shard += 1) {
    await workOnPending({
      name: "EXPIRE-ACCOUNT",
      shard,
      isTimeLeft: () => now().getTime() < deadline,
      visit: async ({ pk }) => {
        if (await expireSafely(pk.slice("ORG#".length))) expired += 1;
      },
    });
  }
  return expired;
}

/** Erases an account. An error must not keep the other accounts from being erased. */
async function expireSafely(organizationId: string): Promise<boolean> {
  try {
    return await expire(organizationId);
  } catch (error) {
    log.error("account.not_expired", { organizationId, error });
    return false;
  }
}

/** @returns whether all of it was erased */
async function expire(organizationId: string): Promise<boolean> {
  const organization = await findOrganization(organizationId, { consistent: true });
  if (organization === undefined || (await findOpenPayment(organizationId)) !== undefined) return false;
  const at = now().toISOString();
  const begun = await transact({
    organization: updateOf(
      keys.organization(organizationId),
      { setIfAbsent: { suspendedAt: at, suspendedReason: reason } },
      // The attribute is absent once the email is verified.
      { present: ["pendingWork"] },
    ),
    wallet: updateOf(
      keys.wallet(organizationId),
      { setIfAbsent: { closedAt: at, closedReason: reason } },
      { is: { seq: 0, balanceMicros: 0 } },
    ),
  });
  if (begun.outcome === "rejected") {
    // The wallet has a movement, so the account does not expire.
    if (begun.rejections.organization === undefined)
      await transact({ organization: doesNotExpire(organizationId) });
    return false;
  }
  const { messagesLeft } = await eraseOrganization(organizationId);
  if (messagesLeft > 0) return false;
  for (const key of keysOfNewWallet(organizationId)) await deleteItem(key);
  return true;
}
