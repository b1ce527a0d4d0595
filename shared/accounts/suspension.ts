import { now } from "../platform/clock.ts";
import { Refusal } from "../platform/refusal.ts";
import { keys } from "../platform/table/keys.ts";
import { leaseFieldNames } from "../platform/table/lease.ts";
import { findItem, transact, untilUndisturbed, type Update } from "../platform/table/table.ts";
import { updateOf, type Changes } from "../platform/table/update.ts";
import { lockWallet } from "../wallet/lock.ts";
import { WalletRecord } from "../wallet/record.ts";
import { findOrganization, type OrganizationRecord } from "./organization-record.ts";

/*
 * What an operator does with a customer who has to be stopped at once. The organisation's record and its wallet say so
 * from the same moment on: the record is what log-ins, credentials and senders look at, and past the wallet no debit
 * gets, which decides between a send and a suspension of the same moment.
 */

/**
 * Stops an organisation: log-ins, sessions, API keys and sends are refused, campaigns stop at their next block, and what
 * was accepted fails and is refunded when it would be handed to the carrier.
 * @param reason for other operators; customers do not see it
 * @returns the organisation; one that was suspended before stays so since then, for the reason of then
 * @throws ApiError UNAVAILABLE
 * @throws Error when there is no such organisation
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
 * Lets a suspended organisation go on: new things are let in. What has failed stays failed.
 * @throws ApiError UNAVAILABLE
 * @throws Error when there is no such organisation
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

/** Changes an organisation and its wallet, if it has one, in one transaction. */
async function change(organizationId: string, wanted: Change): Promise<OrganizationRecord> {
  return untilUndisturbed(async () => {
    const organization = await findOrganization(organizationId, { consistent: true });
    if (organization === undefined) throw new Refusal(`There is no organisation ${organizationId}.`);
    if (wanted.isDone(organization)) return organization;
    const { suspendedAt } = organization;
    const asSeen =
      suspendedAt === undefined ? { present: ["pk"], absent: ["suspendedAt"] } : { is: { suspendedAt } };
    const { outcome } = await transact([
      updateOf(keys.organization(organizationId), wanted.organization, asSeen),
      ...(await changeOfWallet(organizationId, wanted.wallet)),
    ]);
    return outcome === "committed" ? findOrganization(organizationId, { consistent: true }) : undefined;
  });
}

async function changeOfWallet(organizationId: string, changes: Changes): Promise<Update[]> {
  const key = keys.wallet(organizationId);
  if ((await findItem(WalletRecord, key, { consistent: true })) === undefined) return [];
  // The customer to be stopped may debit it hundreds of times a second; these debits wait while it is locked.
  const isLocked = (await lockWallet(organizationId)) !== undefined;
  const remove = [...(changes.remove ?? []), ...(isLocked ? leaseFieldNames : [])];
  return [updateOf(key, { ...changes, remove }, { present: ["pk"] })];
}
