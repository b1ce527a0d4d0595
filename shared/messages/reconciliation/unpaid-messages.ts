import { readLedger } from "../../money/wallet/ledger.ts";
import type { WalletRecord } from "../../money/wallet/record.ts";
import { minuteMs } from "../../platform/clock.ts";
import { firstIdAt } from "../../platform/ids.ts";
import { rowsOf } from "../../platform/table/lists.ts";
import { messageKey, messagesOf } from "../../platform/table/shards.ts";
import { deleteItem } from "../../platform/table/write.ts";
import { MessageRecord } from "../message/record.ts";
import { isUnconfirmed, unconfirmedMs } from "../message/transitions.ts";

/** The longest time between a message and its debit, measured by clocks that may differ. */
const messageToDebitMs = minuteMs;

/** The number of messages to search. An unpaid message beyond them expires in a week. */
const maxSearched = 80_000;

/** The number of ledger entries that are read together. */
const entriesTogether = 500;

/** A time in which something was debited, in ISO 8601. */
export type Period = Readonly<Record<"from" | "to", string>>;

/**
 * Deletes the messages of lost debits. Each debit has voided entries, so that no entry will name its message. The messages of
 * settled entries are confirmed. So a message that is not, and that no later entry names, was never paid for.
 * @param debited a time before these debits were made, and one after it
 * @param horizon a time before which no function runs any more, in ISO 8601
 */
export async function deleteUnpaidMessages(
  wallet: WalletRecord,
  debited: Period,
  horizon: string,
): Promise<void> {
  const unpaid = await unconfirmedMessages(wallet, debited, horizon);
  const lastMs = Math.max(...[...unpaid.values()].map(({ queuedAt }) => Date.parse(queuedAt)));
  for (let from = wallet.settledSeq + 1; unpaid.size > 0; from += entriesTogether) {
    const to = Math.min(from + entriesTogether - 1, wallet.seq);
    const entries = await readLedger(wallet, { from, to, limit: entriesTogether });
    for (const { messageId = "" } of entries) unpaid.delete(messageId);
    const isPast = entries.some(({ createdAt }) => Date.parse(createdAt) > lastMs + messageToDebitMs);
    if (isPast || to === wallet.seq) break;
  }
  for (const message of unpaid.values()) {
    await deleteItem(messageKey(message), { is: { expiresAt: message.expiresAt, attempts: 0 } });
  }
}

/** Returns the unconfirmed messages of a period, by their ids. */
async function unconfirmedMessages(
  wallet: WalletRecord,
  debited: Period,
  horizon: string,
): Promise<Map<string, MessageRecord>> {
  const found = new Map<string, MessageRecord>();
  const toMs = Date.parse(debited.to);
  const fromMs = Math.max(Date.parse(debited.from), toMs - unconfirmedMs);
  const from = firstIdAt("msg", new Date(fromMs - messageToDebitMs));
  const to = firstIdAt("msg", new Date(Math.min(toMs + messageToDebitMs, Date.parse(horizon))));
  // The times come from several clocks. DynamoDB rejects a range that ends before it begins.
  if (from > to) return found;
  let searched = 0;
  const list = { pk: messagesOf(wallet), from, to, newestFirst: true, consistent: true };
  for await (const { item } of rowsOf(MessageRecord, list)) {
    searched += 1;
    if (searched > maxSearched) break;
    if (item !== undefined && isUnconfirmed(item) && item.attempts === 0) found.set(item.id, item);
  }
  return found;
}
