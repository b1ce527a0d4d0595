import { ApiError } from "../../api/contract/errors.ts";
import { now } from "../../platform/clock.ts";
import type { Changes } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { postToWallet } from "./post.ts";
import { WalletRecord } from "./record.ts";
import { findMovement, referenceOf, type Movement } from "./reference.ts";

/*
 * The changes of a wallet that only the operator of the gateway makes.
 */

/** A movement of money that the operator makes. */
export interface Adjustment extends Movement {
  /** The ledger shows it to the customer. */
  readonly reason: string;
}

/**
 * Credits or charges a wallet by hand, once for each reference. One transaction writes the reference and the ledger entry, so
 * there are always both or neither. Only a chargeback may exceed the balance.
 * @returns the balance after it, and whether an earlier call made the movement; the balance is then the one of that time
 * @throws ReferenceTakenError when the reference belongs to a movement of another organization, type or amount
 * @throws ApiError WALLET_MISSING, INSUFFICIENT_BALANCE; UNAVAILABLE when the caller should repeat it with the same reference
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
  // Another call used the reference in between.
  const first = await findMovement(adjustment);
  if (first === undefined) throw new ApiError("UNAVAILABLE");
  return { ...first, wasDoneBefore: true };
}

/**
 * Closes a wallet: sends and top-ups are rejected, but refunds and the operator's movements are still applied.
 * @param reason for other operators; customers do not see it
 * @returns the wallet; one that was closed before keeps its time and reason
 * @throws ApiError WALLET_MISSING
 */
export async function closeWallet(organizationId: string, reason: string): Promise<WalletRecord> {
  return change(organizationId, { setIfAbsent: { closedAt: now().toISOString(), closedReason: reason } });
}

/**
 * Reopens a closed wallet.
 * @throws ApiError WALLET_MISSING
 */
export async function reopenWallet(organizationId: string): Promise<WalletRecord> {
  return change(organizationId, { remove: ["closedAt", "closedReason"] });
}

/**
 * Sets the daily cap of an organization, which replaces that of the stage.
 * @param cap in micro-units; undefined restores the cap of the stage
 * @throws ApiError WALLET_MISSING
 */
export async function limitDailySpend(
  organizationId: string,
  cap: number | "none" | undefined,
): Promise<WalletRecord> {
  return limit(organizationId, "operatorDailyCap", cap, ["spendLeftMicros"]);
}

/**
 * Sets how many messages an organization may send in a second, which replaces the limit of the stage.
 * @param sends undefined restores the limit of the stage
 * @throws ApiError WALLET_MISSING
 */
export async function limitSendRate(
  organizationId: string,
  sends: number | "none" | undefined,
): Promise<WalletRecord> {
  return limit(organizationId, "operatorSendsPerSecond", sends, ["sendsLeft", "secondSince"]);
}

/** Changes a limit, and removes what is left of it. The next debit calculates it again. */
async function limit(
  organizationId: string,
  field: "operatorDailyCap" | "operatorSendsPerSecond",
  value: number | "none" | undefined,
  left: readonly ("sendsLeft" | "secondSince" | "spendLeftMicros")[],
): Promise<WalletRecord> {
  const remove = value === undefined ? [field, ...left] : left;
  return change(organizationId, { set: { [field]: value }, remove });
}

async function change(organizationId: string, changes: Changes<"wallet">): Promise<WalletRecord> {
  const update = updateOf(keys.wallet(organizationId), changes, { present: ["pk"] });
  const changed = await updateItem(WalletRecord, update);
  if (!changed.applied) throw new ApiError("WALLET_MISSING");
  return changed.item;
}
