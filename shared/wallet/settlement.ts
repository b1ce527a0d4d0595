import { keys } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { updateOf, type Changes, type Requirements } from "../platform/table/update.ts";
import { WalletRecord } from "./record.ts";

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

/** Notes how far a wallet is settled; does nothing when another pass came first. */
export async function settleWallet(organizationId: string, settlement: Settlement): Promise<void> {
  const { set, add, is } = settling(settlement);
  await updateItem(WalletRecord, updateOf(keys.wallet(organizationId), { set, add }, { is }));
}
