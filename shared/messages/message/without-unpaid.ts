import { LedgerEntryRecord } from "../../money/wallet/ledger.ts";
import { findWallet } from "../../money/wallet/record.ts";
import { minuteMs, now } from "../../platform/clock.ts";
import { firstItems } from "../../platform/table/lists.ts";
import { ledgerOf } from "../../platform/table/shards.ts";
import { effectsOf } from "./effects.ts";
import type { MessageRecord } from "./record.ts";
import { isUnconfirmed } from "./transitions.ts";

/** A function that has written a message pays for it, or ends, within this time. The clocks of two functions may differ. */
const paymentMs = minuteMs;

/** The newest ledger entries that are read. A message from before them is shown until the reconciler has deleted it. */
const maxEntries = 200;

/**
 * Leaves out messages of an organization that no one paid for, because their function died. It reads the ledger only if a
 * message is neither confirmed nor new.
 */
export async function withoutUnpaid(
  organizationId: string,
  messages: readonly MessageRecord[],
): Promise<readonly MessageRecord[]> {
  const payableSince = now().getTime() - paymentMs;
  const doubtful = messages.filter((message) => {
    const isNew = Date.parse(message.queuedAt) > payableSince;
    return !isNew && message.status === "queued" && message.attempts === 0 && isUnpaidYet(message);
  });
  const wallet = doubtful.length === 0 ? undefined : await findWallet(organizationId);
  if (wallet === undefined) return messages;
  const list = { pk: ledgerOf(wallet), newestFirst: true, consistent: true, skipsUnreadable: true };
  const entries = await firstItems(LedgerEntryRecord, list, maxEntries);
  const paid = new Set(entries.map(({ messageId }) => messageId));
  const oldestMs = entries.length < maxEntries ? 0 : Date.parse(entries.at(-1)?.createdAt ?? "");
  const isUnpaid = ({ id, queuedAt }: MessageRecord): boolean =>
    !paid.has(id) && Date.parse(queuedAt) - paymentMs > oldestMs;
  return messages.filter((message) => !doubtful.includes(message) || !isUnpaid(message));
}

/** Whether only the ledger shows if a message is paid: no sender and no reconciler has confirmed it. */
function isUnpaidYet(message: MessageRecord): boolean {
  return effectsOf(message).isPaid && isUnconfirmed(message);
}
