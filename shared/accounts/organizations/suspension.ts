import { now } from "../../platform/clock.ts";
import { RejectedError } from "../../platform/rejected-error.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { leaseFieldNames } from "../../platform/table/lease.ts";
import { findItem } from "../../platform/table/read.ts";
import { transact, untilUndisturbed } from "../../platform/table/transact.ts";
import { type Update, updateOf } from "../../platform/table/write.ts";
import { lockWallet } from "../../wallet/lock.ts";
import { WalletRecord } from "../../wallet/record.ts";
import { findOrganization, type OrganizationRecord } from "./record.ts";

/*
 * The suspension of a customer by an operator. The organization's record and its wallet change in one transaction.
 * Log-ins, credentials and senders check the record. Debits check the wallet, which decides between a send and a
 * suspension at the same moment.
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
    isDone: (organization) => organization.suspendedAt === undefined,
    organization: { remove: ["suspendedAt", "suspendedReason"] },
    wallet: { remove: ["suspendedAt"] },
  });
}

interface Change {
  readonly isDone: (organization: OrganizationRecord) => boolean;
  readonly organization: Changes;
  readonly wallet: Changes;
}

/** Changes an organization and its wallet, if it has one, in one transaction. */
async function change(organizationId: string, wanted: Change): Promise<OrganizationRecord> {
  return untilUndisturbed(async () => {
    const organization = await findOrganization(organizationId, { consistent: true });
    if (organization === undefined) throw new RejectedError(`There is no organization ${organizationId}.`);
    if (wanted.isDone(organization)) return organization;
    const { suspendedAt } = organization;
    const asSeen =
      suspendedAt === undefined ? { present: ["pk"], absent: ["suspendedAt"] } : { is: { suspendedAt } };
    const { outcome } = await transact({
      organization: updateOf(keys.organization(organizationId), wanted.organization, asSeen),
      wallet: await changeOfWallet(organizationId, wanted.wallet),
    });
    return outcome === "committed" ? findOrganization(organizationId, { consistent: true }) : undefined;
  });
}

async function changeOfWallet(organizationId: string, changes: Changes): Promise<Update[]> {
  const key = keys.wallet(organizationId);
  if ((await findItem(WalletRecord, key, { consistent: true })) === undefined) return [];
  // The customer may debit the wallet hundreds of times a second. These debits wait while it is locked.
  const isLocked = (await lockWallet(organizationId)) !== undefined;
  const remove = [...(changes.remove ?? []), ...(isLocked ? leaseFieldNames : [])];
  return [updateOf(key, { ...changes, remove }, { present: ["pk"] })];
}
