import type { Wallet } from "../../api/contract/wallet.ts";
import { lockWallet } from "../../money/wallet/lock.ts";
import { readWallet, toApiWallet, WalletRecord } from "../../money/wallet/record.ts";
import { now } from "../../platform/clock.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import type { Changes, Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { leaseFieldNames } from "../../platform/table/lease.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { type Update, updateOf } from "../../platform/table/write.ts";
import { findOrganization, type OrganizationRecord } from "../../tenancy/organizations/record.ts";

/*
 * The suspension of a customer by an operator, and the pause of all sending by the customer. The organization's record and
 * its wallet change in one transaction. Log-ins and credentials check the record for a suspension, senders for both. Debits
 * check the wallet, which decides between a send and a suspension at the same moment.
 */

/**
 * Suspends an organization: log-ins, sessions, API keys and sends are rejected, and campaigns stop at their next block.
 * Accepted messages fail and are refunded instead of being submitted to the carrier.
 * @param reason for other operators; customers do not see it
 * @returns the organization; a suspended organization keeps its date and its reason
 * @throws ApiError UNAVAILABLE
 * @throws Error when there is no such organization
 */
export async function suspendOrganization(
  organizationId: string,
  reason: string,
): Promise<OrganizationRecord> {
  const suspendedAt = now().toISOString();
  return change(organizationId, {
    field: "suspendedAt",
    isDone: (organization) => organization.suspendedAt !== undefined,
    organization: { set: { suspendedAt, suspendedReason: reason } },
    wallet: { set: { suspendedAt } },
  });
}

/**
 * Resumes a suspended organization, which may send again. Failed messages stay failed.
 * @throws ApiError UNAVAILABLE
 * @throws Error when there is no such organization
 */
export async function resumeOrganization(organizationId: string): Promise<OrganizationRecord> {
  return change(organizationId, {
    field: "suspendedAt",
    isDone: (organization) => organization.suspendedAt === undefined,
    organization: { remove: ["suspendedAt", "suspendedReason"] },
    wallet: { remove: ["suspendedAt"] },
  });
}

/**
 * Pauses or resumes all sending at the request of a member. While it is paused, sends are rejected, campaigns stop at their next
 * block, and messages that become due fail and are refunded. They do not wait, so that a resumed organization never sends what
 * a stolen key scheduled.
 * @throws ApiError WALLET_MISSING, UNAVAILABLE
 */
export async function setSendingPaused(organizationId: string, isPaused: boolean): Promise<Wallet> {
  const changes = isPaused ? { set: { pausedAt: now().toISOString() } } : ({ remove: ["pausedAt"] } as const);
  await change(organizationId, {
    field: "pausedAt",
    isDone: ({ pausedAt }) => (pausedAt !== undefined) === isPaused,
    organization: changes,
    wallet: changes,
  });
  return toApiWallet(await readWallet(organizationId));
}

interface Change {
  readonly field: "pausedAt" | "suspendedAt";
  readonly isDone: (organization: OrganizationRecord) => boolean;
  readonly organization: Changes<"organization">;
  readonly wallet: Changes<"wallet">;
}

/** Changes an organization and its wallet, if it has one, in one transaction. */
async function change(organizationId: string, wanted: Change): Promise<OrganizationRecord> {
  return untilUndisturbed(async () => {
    const organization = await findOrganization(organizationId, { consistent: true });
    if (organization === undefined) throw new RejectedError(`There is no organization ${organizationId}.`);
    if (wanted.isDone(organization)) return organization;
    const { field } = wanted;
    const { [field]: seen } = organization;
    const asSeen: Requirements<"organization"> =
      seen === undefined ? { present: ["pk"], absent: [field] } : { is: { [field]: seen } };
    const { outcome } = await transact({
      organization: updateOf(keys.organization(organizationId), wanted.organization, asSeen),
      wallet: await changeOfWallet(organizationId, wanted.wallet),
    });
    return outcome === "committed" ? findOrganization(organizationId, { consistent: true }) : undefined;
  });
}

async function changeOfWallet(
  organizationId: string,
  changes: Changes<"wallet">,
): Promise<Update<"wallet">[]> {
  const key = keys.wallet(organizationId);
  if ((await findItem(WalletRecord, key, { consistent: true })) === undefined) return [];
  // The customer may debit the wallet hundreds of times a second. These debits wait while it is locked.
  const isLocked = (await lockWallet(organizationId)) !== undefined;
  const remove = [...(changes.remove ?? []), ...(isLocked ? leaseFieldNames : [])];
  return [updateOf(key, { ...changes, remove }, { present: ["pk"] })];
}
