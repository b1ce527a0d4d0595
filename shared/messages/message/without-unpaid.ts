import { readLedger } from "../../money/wallet/ledger.ts";
import { findWallet } from "../../money/wallet/record.ts";
import { minuteMs, now } from "../../platform/clock.ts";
import { effectsOf } from "./effects.ts";
import type { MessageRecord } from "./record.ts";
import { isUnconfirmed } from "./transitions.ts";

/** A function that has written a message pays for it, or ends, within this time. The clocks of two functions may differ. */
const paymentMs = minuteMs;

/** The newest ledger entries that are read. Messages from before them stay until the reconciler has settled the entries. */
const maxEntries = 200;

/**
 * Leaves out messages of an organization that no one paid for, because their function died: no ledger entry names them. The
 * messages of settled entries are confirmed, so that only the others are read, and only if a message is neither confirmed nor new.
 */
export async function withoutUnpaid(
  organizationId: string,
  messages: readonly MessageRecord[],
): Promise<readonly MessageRecord[]> {
  const payableSince = now().getTime() - paymentMs;
  const isDoubtful = (message: MessageRecord): boolean =>
    isUnpaidYet(message) && Date.parse(message.queuedAt) <= payableSince;
  const wallet = messages.some(isDoubtful) ? await findWallet(organizationId) : undefined;
  if (wallet === undefined) return messages;
  const { seq, settledSeq } = wallet;
  const from = Math.max(settledSeq + 1, seq - maxEntries + 1);
  const entries = await readLedger(wallet, { from, to: seq, limit: maxEntries }, { skipsUnreadable: true });
  const paid = new Set(entries.map(({ messageId }) => messageId));
  const readSinceMs = from === settledSeq + 1 ? 0 : Date.parse(entries[0]?.createdAt ?? "") + paymentMs;
  return messages.filter(
    (message) =>
      !isDoubtful(message) || paid.has(message.id) || !(Date.parse(message.queuedAt) > readSinceMs),
  );
}

/** Whether only the ledger shows if a message is paid: no sender and no reconciler has confirmed it. */
function isUnpaidYet(message: MessageRecord): boolean {
  const { status, attempts } = message;
  return effectsOf(message).isPaid && status === "queued" && attempts === 0 && isUnconfirmed(message);
}
