import { minuteMs } from "../../platform/clock.ts";
import { pendingWorkOf } from "../../platform/jobs/pending-work.ts";
import type { Changes, Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { WalletRecord } from "./record.ts";

/**
 * The minimum age of a change that is settled. The function that made it has ended by then, because functions run for half a
 * minute at most. The void entry rejects writes that arrive even later.
 */
export const graceMs = 10 * minuteMs;

/** Returns when a change may be settled, in ISO 8601. */
export function settleAt(changedAt: string): string {
  return new Date(Date.parse(changedAt) + graceMs).toISOString();
}

/** Returns the fields that every change of a balance sets, so that the wallet is settled later. */
export function toBeSettled(
  organizationId: string,
  changedAt: string,
): Required<Pick<Changes<"wallet">, "set" | "setIfAbsent">> {
  return {
    set: { pendingWork: pendingWorkOf("SETTLE", organizationId) },
    setIfAbsent: { visitAt: settleAt(changedAt) },
  };
}

/** The result of a reconciler's pass: the seqs after `from` up to `to`, of which `voids` were lost debits, some of fees. */
export interface Settlement {
  readonly from: number;
  readonly to: number;
  readonly voids: number;
  readonly voidedFees: number;
}

/** Returns the changes of a wallet that is settled. They require that no other pass came first. */
export function settling({
  from,
  to,
  voids,
  voidedFees,
}: Settlement): Required<Pick<Changes<"wallet">, "add" | "set"> & Pick<Requirements<"wallet">, "is">> {
  return {
    set: { settledSeq: to },
    // A lost debit was counted as a message that was paid for.
    add: { messageCount: 0 - voids, ...(voidedFees > 0 ? { voidedFeeCount: voidedFees } : {}) },
    is: { settledSeq: from },
  };
}

/**
 * Notes how far a wallet is settled and when to visit it again. Does nothing when another pass came first. A wallet that is
 * settled up to its last change has no pending work.
 * @param visitAt when to visit it again, in ISO 8601
 */
export async function settleWallet(
  organizationId: string,
  settlement: Settlement,
  visitAt: string,
): Promise<void> {
  const key = keys.wallet(organizationId);
  const { set, add, is } = settling(settlement);
  const done = { set, add, remove: ["pendingWork", "visitAt"] } as const;
  const settled = await updateItem(WalletRecord, updateOf(key, done, { is: { ...is, seq: settlement.to } }));
  if (settled.applied) return;
  const pendingWork = pendingWorkOf("SETTLE", organizationId);
  await updateItem(WalletRecord, updateOf(key, { set: { ...set, pendingWork, visitAt }, add }, { is }));
}
