import { findOrganization } from "../accounts/organization-record.ts";
import { doesNotExpire } from "../accounts/verification.ts";
import { minuteMs, now, secondMs } from "../platform/clock.ts";
import { workOnAgenda } from "../platform/jobs/agenda.ts";
import { shardCount } from "../platform/jobs/shards.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { deleteItem, transact } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { forgetWallet } from "../wallet/record.ts";
import { eraseOrganization } from "./organization.ts";

/*
 * Where a stage asks for a verified email, an account that nobody has verified goes after a week, so that an address is
 * not kept from whoever it belongs to. Registration puts the organization on an agenda, and its verification takes it off.
 */

/** A run ends after this, with the function's time-out still ahead; the next run goes on with what is left. */
const runTimeMs = 4 * minuteMs + 30 * secondMs;

const reason = "never verified";

/**
 * Erases the accounts whose week is over and that nobody has verified. One whose wallet was ever moved stays, and is the
 * operator's to decide on: money does not vanish.
 * @returns how many it erased
 */
export async function expireAccounts(): Promise<number> {
  const deadline = now().getTime() + runTimeMs;
  let expired = 0;
  for (let shard = 0; shard < shardCount; shard += 1) {
    await workOnAgenda({
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

/** An account that cannot be erased now must not keep the others from it. */
async function expireSafely(organizationId: string): Promise<boolean> {
  try {
    return await expire(organizationId);
  } catch (error) {
    log.error("account.not_expired", { organizationId, error });
    return false;
  }
}

/** @returns whether all of it is gone */
async function expire(organizationId: string): Promise<boolean> {
  const organization = await findOrganization(organizationId, { consistent: true });
  if (organization === undefined) return false;
  const at = now().toISOString();
  const begun = await transact({
    organization: updateOf(
      keys.organization(organizationId),
      { setIfAbsent: { suspendedAt: at, suspendedReason: reason } },
      // It is no longer there once somebody has verified the email.
      { present: ["agenda"] },
    ),
    wallet: updateOf(
      keys.wallet(organizationId),
      { setIfAbsent: { closedAt: at, closedReason: reason } },
      { is: { seq: 0, balanceMicros: 0 } },
    ),
  });
  if (begun.outcome === "refused") {
    // Money has come in: it is not looked at again.
    if (begun.refusals.organization === undefined) await transact([doesNotExpire(organizationId)]);
    return false;
  }
  const { messagesLeft } = await eraseOrganization(organizationId);
  if (messagesLeft > 0) return false;
  for (const key of forgetWallet(organizationId)) await deleteItem(key);
  return true;
}
