import { ApiError } from "../contract/errors.ts";
import { now } from "../platform/clock.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { postToWallet } from "./post.ts";
import { WalletRecord } from "./record.ts";
import { findMovement, referenceOf, type Movement } from "./reference.ts";
import type { spendingLimitFields } from "./spending-limits.ts";

/*
 * What only the operator of the gateway does with a wallet.
 */

/** A movement of money that the operator makes. */
export interface Adjustment extends Movement {
  /** The customer reads it in the ledger. */
  readonly reason: string;
}

/**
 * Credits or charges a wallet by hand, once for each reference. The reference is taken in the transaction of the
 * ledger entry, so whatever is lost or repeated there are both or neither. Only a chargeback takes more than there is.
 * @returns the balance after it, and whether an earlier call had already done it; the balance is then the one of that time
 * @throws ReferenceTakenError when the reference belongs to a movement of another organization, type or amount
 * @throws ApiError WALLET_MISSING, INSUFFICIENT_BALANCE; UNAVAILABLE when it is to be repeated with the same reference
 */
export async function adjustWallet(
  adjustment: Adjustment,
): Promise<{ readonly balanceMicros: number; readonly wasDoneBefore: boolean }> {
  const before = await findMovement(adjustment);
  if (before !== undefined) return { ...before, wasDoneBefore: true };
  const wallet = await postToWallet({
    ...adjustment,
    together: (after) => [referenceOf(adjustment, after)],
  });
  if (wallet !== undefined) return { balanceMicros: wallet.balanceMicros, wasDoneBefore: false };
  // Somebody else took the reference in between.
  const first = await findMovement(adjustment);
  if (first === undefined) throw new ApiError("UNAVAILABLE");
  return { ...first, wasDoneBefore: true };
}

/**
 * Keeps a wallet from being used: sends and top-ups are refused, refunds and the operator's movements still arrive.
 * @param reason for other operators; customers do not see it
 * @returns the wallet; one that was closed before stays closed since then, for the reason of then
 * @throws ApiError WALLET_MISSING
 */
export async function closeWallet(organizationId: string, reason: string): Promise<WalletRecord> {
  const set = { closedAt: now().toISOString(), closedReason: reason };
  const closed = await updateItem(
    WalletRecord,
    updateOf(keys.wallet(organizationId), { set }, { present: ["pk"], absent: ["closedAt"] }),
  );
  if (closed.applied) return closed.item;
  if (closed.found === undefined) throw new ApiError("WALLET_MISSING");
  return WalletRecord.parse(closed.found);
}

/**
 * Lets a closed wallet be used again.
 * @throws ApiError WALLET_MISSING
 */
export async function reopenWallet(organizationId: string): Promise<WalletRecord> {
  const remove = ["closedAt", "closedReason"];
  const reopened = await updateItem(
    WalletRecord,
    updateOf(keys.wallet(organizationId), { remove }, { present: ["pk"] }),
  );
  if (!reopened.applied) throw new ApiError("WALLET_MISSING");
  return reopened.item;
}

/**
 * Says what an organisation may spend in a day, whatever the stage says.
 * @param cap in micro-units; undefined leaves it to the stage
 * @throws ApiError WALLET_MISSING
 */
export async function capSpending(
  organizationId: string,
  cap: number | "none" | undefined,
): Promise<WalletRecord> {
  return limit(organizationId, "operatorDailyCap", cap, ["spendLeftMicros"]);
}

/**
 * Says how many messages an organisation may send in a second, whatever the stage says.
 * @param sends undefined leaves it to the stage
 * @throws ApiError WALLET_MISSING
 */
export async function limitSendRate(
  organizationId: string,
  sends: number | "none" | undefined,
): Promise<WalletRecord> {
  return limit(organizationId, "operatorSendsPerSecond", sends, ["paceLeft", "paceSince"]);
}

/** Changes a limit, and takes away what is left of it: the next debit computes anew. */
async function limit(
  organizationId: string,
  field: keyof typeof spendingLimitFields,
  value: number | "none" | undefined,
  left: readonly (keyof typeof spendingLimitFields)[],
): Promise<WalletRecord> {
  const changes = { set: { [field]: value }, remove: value === undefined ? [field, ...left] : left };
  const changed = await updateItem(
    WalletRecord,
    updateOf(keys.wallet(organizationId), changes, { present: ["pk"] }),
  );
  if (!changed.applied) throw new ApiError("WALLET_MISSING");
  return changed.item;
}
