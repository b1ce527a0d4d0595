import { minuteMs } from "../platform/clock.ts";
import { pendingWorkOf } from "../platform/jobs/pending-work.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { updateOf, type Changes, type Requirements } from "../platform/table/update.ts";
import { WalletRecord } from "./record.ts";

/**
 * No change of a wallet that is younger is settled. The function that made it has ended long before: they run for half a
 * minute at the most. Writes that arrive even later are refused by the seal.
 */
export const graceMs = 10 * minuteMs;

/** When a change that was made at a moment may be settled, in ISO 8601. */
export function settleAt(changedAt: string): string {
  return new Date(Date.parse(changedAt) + graceMs).toISOString();
}

/** What every change of a balance does beside: the wallet is on the agenda of those that are to be settled. */
export function toBeSettled(
  organizationId: string,
  changedAt: string,
): Required<Pick<Changes, "set" | "setIfAbsent">> {
  return {
    set: { agenda: pendingWorkOf("SETTLE", organizationId) },
    setIfAbsent: { lookAt: settleAt(changedAt) },
  };
}

/** What a pass of the reconciler settled: the seqs after `from` up to `to`, of which so many were lost debits. */
export interface Settlement {
  readonly from: number;
  readonly to: number;
  readonly voids: number;
}

/** What settling does to a wallet; it requires that no other pass came first. */
export function settling({
  from,
  to,
  voids,
}: Settlement): Required<Pick<Changes, "add" | "set"> & Pick<Requirements, "is">> {
  return {
    set: { settledSeq: to },
    // A lost debit was counted as a message that was paid for.
    add: { messageCount: 0 - voids },
    is: { settledSeq: from },
  };
}

/**
 * Notes how far a wallet is settled and when to look at it again; does nothing when another pass came first. A wallet
 * that is settled up to its last change is taken off the agenda.
 * @param lookAt when to look again, in ISO 8601
 */
export async function settleWallet(
  organizationId: string,
  settlement: Settlement,
  lookAt: string,
): Promise<void> {
  const key = keys.wallet(organizationId);
  const { set, add, is } = settling(settlement);
  const done = { set, add, remove: ["agenda", "lookAt"] };
  const settled = await updateItem(WalletRecord, updateOf(key, done, { is: { ...is, seq: settlement.to } }));
  if (settled.applied) return;
  const agenda = pendingWorkOf("SETTLE", organizationId);
  await updateItem(WalletRecord, updateOf(key, { set: { ...set, agenda, lookAt }, add }, { is }));
}
