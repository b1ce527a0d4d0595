import type { LedgerEntryRecord } from "../../money/wallet/ledger.ts";
import type { WalletRecord } from "../../money/wallet/record.ts";
import { minuteMs } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { rowsOf } from "../../platform/table/lists.ts";
import { messageKey, messagesOf } from "../../platform/table/shards.ts";
import { deleteItem } from "../../platform/table/write.ts";
import { MessageRecord } from "../message/record.ts";
import { isUnconfirmed, unconfirmedMs } from "../message/transitions.ts";

/** The longest time between a debit and its message, measured by clocks that may differ. */
const debitToMessageMs = minuteMs;

/** The number of messages to search. An unpaid message beyond them expires in a week. */
const maxSearched = 80_000;

/**
 * Deletes the messages of voided debits. A void entry has taken the seq of each debit, so that no entry can pay for its
 * message.
 * @param voids the void entries
 * @param debited a time before these debits were made, and one after it, in ISO 8601
 */
export async function deleteUnpaidMessages(
  wallet: WalletRecord,
  voids: readonly Pick<LedgerEntryRecord, "seq">[],
  debited: { readonly from: string; readonly to: string },
): Promise<void> {
  const seqs = new Set(voids.map(({ seq }) => seq));
  const toMs = Date.parse(debited.to);
  const fromMs = Math.max(Date.parse(debited.from), toMs - unconfirmedMs);
  const from = firstIdAt("msg", new Date(fromMs - debitToMessageMs));
  const to = firstIdAt("msg", new Date(toMs + debitToMessageMs));
  // The times come from several clocks. DynamoDB rejects a range that ends before it begins.
  if (from > to) return;
  let searched = 0;
  const list = { pk: messagesOf(wallet), from, to, newestFirst: true, consistent: true };
  for await (const { item } of rowsOf(MessageRecord, list)) {
    searched += 1;
    if (searched > maxSearched) return;
    if (item?.debitSeq === undefined || !seqs.has(item.debitSeq) || !isUnconfirmed(item)) continue;
    await deleteItem(messageKey(item), { is: { expiresAt: item.expiresAt, attempts: 0 } });
  }
}
