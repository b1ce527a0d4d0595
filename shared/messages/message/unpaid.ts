import { readLedger } from "../../money/wallet/ledger.ts";
import { findWallet } from "../../money/wallet/record.ts";
import { hourMs, minuteMs, now } from "../../platform/clock.ts";
import type { Key } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { deleteItem } from "../../platform/table/write.ts";
import { effectsOf } from "./effects.ts";
import { readMessages } from "./read-together.ts";
import { MessageRecord } from "./record.ts";
import { isUnconfirmed } from "./transitions.ts";

/** A function that has written a message pays for it, or ends, within this time. The clocks of two functions may differ. */
const paymentMs = minuteMs;

/** The newest ledger entries that are read. Messages from before them stay until the reconciler has settled the entries. */
const maxEntries = 200;

/** The most messages that are read again. Others stay. */
const maxReadAgain = 500;

/**
 * Leaves out messages of an organization that no one paid for, because their function died: no ledger entry names them. The
 * messages of settled entries are confirmed, so that only the others are read, and only if a message is neither confirmed nor new.
 */
export async function withoutUnpaid(
  organizationId: string,
  messages: readonly MessageRecord[],
): Promise<readonly MessageRecord[]> {
  const payableSince = now().getTime() - paymentMs;
  const doubtful = messages.filter(
    (message) => waitsUnconfirmed(message) && Date.parse(message.queuedAt) <= payableSince,
  );
  const wallet = doubtful.length === 0 ? undefined : await findWallet(organizationId);
  if (wallet === undefined) return messages;
  const { seq, settledSeq } = wallet;
  const from = Math.max(settledSeq + 1, seq - maxEntries + 1);
  const entries = await readLedger(wallet, { from, to: seq, limit: maxEntries }, { skipsUnreadable: true });
  const paid = new Set(entries.map(({ messageId }) => messageId));
  // Messages from before may have an entry that was not read.
  const [oldest] = entries;
  const allReadSinceMs =
    from === settledSeq + 1 ? 0 : oldest === undefined ? Infinity : Date.parse(oldest.createdAt) + paymentMs;
  const unnamed = doubtful
    .filter((message) => !paid.has(message.id) && Date.parse(message.queuedAt) > allReadSinceMs)
    .slice(0, maxReadAgain);
  // The reconciler may have settled an entry meanwhile. It confirms the message before.
  const present = await readMessages(
    wallet,
    unnamed.map(({ id }) => id),
  );
  const unpaid = new Set(unnamed.filter(({ id }) => isStillUnconfirmed(present.get(id))));
  return messages.filter((message) => !unpaid.has(message));
}

/**
 * Deletes a message that no one paid for. No function of an hour ago still runs.
 * @returns whether it was deleted
 */
export async function deleteIfUnpaid(key: Key<"message">): Promise<boolean> {
  const message = await findItem(MessageRecord, key, { consistent: true });
  if (message === undefined || now().getTime() - Date.parse(message.queuedAt) < hourMs) return false;
  const remaining = await withoutUnpaid(message.organizationId, [message]);
  if (remaining.length > 0) return false;
  const { expiresAt } = message;
  return (await deleteItem(key, { is: { status: "queued", expiresAt, attempts: 0 } })).applied;
}

/** Whether only the ledger shows if a message is paid: no sender and no reconciler has confirmed it. */
function waitsUnconfirmed(message: MessageRecord): boolean {
  const { status, attempts } = message;
  return effectsOf(message).isPaid && status === "queued" && attempts === 0 && isUnconfirmed(message);
}

function isStillUnconfirmed(message: MessageRecord | "unreadable" | undefined): boolean {
  return message === undefined || (message !== "unreadable" && waitsUnconfirmed(message));
}
