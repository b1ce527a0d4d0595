import { ApiError } from "../../api/contract/errors.ts";
import { dayOf } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import type { Key } from "../../platform/table/keys.ts";
import { findItem } from "../../platform/table/read.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { tryTransact } from "../../platform/table/transact.ts";
import { deleteItem, putItem, type Put, type Write } from "../../platform/table/write.ts";
import { debitWallet, sumOf, type Debit } from "./debit.ts";
import { ledgerEntry, LedgerEntryRecord, voidEntry, type NewLedgerEntry } from "./ledger.ts";
import { logPending } from "./notify.ts";
import { postToWallet } from "./post.ts";
import { watchBalance } from "./recharge.ts";
import type { WalletRecord } from "./record.ts";

/*
 * A charge of a wallet has two writes: a debit, and its record in the ledger. The debit is one conditional update, because
 * concurrent updates of an item queue up, and transactions would cancel each other. Each price has the next `seq`, and every
 * `seq` has exactly one ledger entry. A debit without its record leaves a gap, which a void entry fills: here, or by the
 * reconciler.
 */

/** A new message that is written before its ledger entry, without which it has no effect. The table deletes it a week later. */
export type UnconfirmedMessage = Put<"message">;

interface DebitOfMessages extends Debit {
  /** The ids of the paid messages, one for each price that is no fee. Fees come after messages. */
  readonly messageIds: readonly string[];
  /** A message that is written at the same time as the debit. */
  readonly beside?: UnconfirmedMessage | undefined;
}

/** A debit that was applied, and has no record yet. */
export interface Debited {
  /** The wallet after the debit. */
  readonly wallet: WalletRecord;
  /** The ledger entries to write. */
  readonly entries: readonly NewLedgerEntry[];
  /** Whether the message was written beside the debit. Otherwise it has to be written before the entries. */
  readonly isMessageWritten: boolean;
}

/**
 * Debits the prices of messages from a wallet, all or none and never twice: the first step of a charge. `recordDebit` has to
 * follow. If the debit fails, its message is deleted, because no entry will name it.
 * @throws ApiError ORGANIZATION_SUSPENDED, SENDING_PAUSED, WALLET_MISSING, INSUFFICIENT_BALANCE, DAILY_SPEND_CAP_REACHED,
 *   SEND_RATE_EXCEEDED. UNAVAILABLE when the reconciler will refund a possible debit
 */
export async function debitFor({ messageIds, beside, ...debit }: DebitOfMessages): Promise<Debited> {
  // Both end before anything else happens.
  const [debited, written] = await Promise.allSettled([
    debitWallet(debit),
    beside === undefined ? undefined : writeMessage(beside),
  ]);
  if (debited.status === "rejected") {
    await discard(beside);
    throw debited.reason;
  }
  const { wallet, entries } = debited.value;
  return {
    wallet,
    entries: entries.map((entry, index) => ({ ...entry, messageId: messageIds[index] })),
    isMessageWritten: beside !== undefined && written.status === "fulfilled",
  };
}

async function writeMessage(unconfirmed: UnconfirmedMessage): Promise<void> {
  await putItem(unconfirmed, { isOwn: ({ id }) => id === unconfirmed.put.id });
}

/**
 * Records a debit in the ledger: the second step of a charge. Its writes share a transaction of a hundred writes with the
 * entries.
 * @param unconfirmed the message that is not in that transaction
 * @throws ApiError UNAVAILABLE when nothing was recorded: the debit was refunded, or the reconciler will refund it
 */
export async function recordDebit(
  { wallet, entries, isMessageWritten }: Debited,
  unconfirmed: UnconfirmedMessage | undefined,
  together: readonly Write[],
): Promise<void> {
  await record({ entries, unconfirmed, isMessageWritten, together });
  await watchBalance(wallet).catch(logPending);
}

interface DebitRecord extends Pick<Debited, "entries" | "isMessageWritten"> {
  readonly unconfirmed: UnconfirmedMessage | undefined;
  readonly together: readonly Write[];
}

/** How often the record of a debit is tried. The money is debited, so a delay of some seconds is worth it. */
const recordAttempts = 12;

/**
 * Writes the entries of a debit, with the paid messages. All items are new and their keys unique, so contention is short. If a
 * seq has an entry already, the reconciler voided the debit and returned the money. If only a write of the caller is rejected,
 * the seqs are free, and the money is returned here.
 */
async function record(debit: DebitRecord): Promise<void> {
  const { entries, unconfirmed } = debit;
  const outcome = await tryRecord(debit).catch(async (error: unknown) => {
    const result = await resolveAmbiguousRecord(entries, unconfirmed);
    if (result === "recorded") return "committed";
    const facts = { isUncharged: result === "returned", mayBeAccepted: result === "unknown" };
    throw new ApiError("UNAVAILABLE", { cause: error, ...facts });
  });
  if (outcome === "committed") return;
  if (outcome === "voided") await discard(unconfirmed);
  const isUncharged = outcome === "unrecorded" && (await returnMoney(entries, unconfirmed));
  throw new ApiError("UNAVAILABLE", { isUncharged });
}

async function tryRecord({
  entries,
  unconfirmed,
  isMessageWritten,
  together,
}: DebitRecord): Promise<"committed" | "unrecorded" | "voided"> {
  if (unconfirmed !== undefined && !isMessageWritten) await writeMessage(unconfirmed);
  const [entry] = entries;
  if (entry === undefined || entries.length > 1 || together.length > 0) {
    const result = await tryTransact({ entries: entries.map(ledgerEntry), together }, recordAttempts);
    if (result.outcome === "committed") return "committed";
    if (result.outcome === "contended" || result.rejections.entries === undefined) return "unrecorded";
    // An earlier attempt may have succeeded although its response was lost: then the entry at its seq is its own.
    return result.rejections.entries.found?.["id"] === entry?.id ? "committed" : "voided";
  }
  // A single entry needs no transaction, which costs twice as much.
  const written = await putItem(ledgerEntry(entry), { isOwn: ({ id }) => id === entry.id });
  return written.applied ? "committed" : "voided";
}

/** Deletes a message whose entry will never be written. If it cannot be deleted now, it expires later. */
async function discard(unconfirmed: UnconfirmedMessage | undefined): Promise<void> {
  if (unconfirmed === undefined) return;
  const { put } = unconfirmed;
  // The value that it was written with: a message that was paid after all and is final has another.
  await deleteItem(messageKey(put), { is: { expiresAt: put.expiresAt } }).catch((error: unknown) => {
    log.warn("wallet.not_discarded", { error });
  });
}

/**
 * Finds out whether the record was written although its response was lost. If it was not, the money is returned, or at least a void entry
 * takes the first seq. Then the record cannot be written after the caller received an error. Both are transactions, which wait
 * for writes that may still be in flight.
 */
async function resolveAmbiguousRecord(
  entries: readonly NewLedgerEntry[],
  unconfirmed: UnconfirmedMessage | undefined,
): Promise<"recorded" | "returned" | "unknown" | "voided"> {
  const [first] = entries;
  if (first === undefined) return "unknown";
  const { pk, sk, organizationId, messageId } = first;
  const key: Key<"ledgerEntry"> = { pk, sk };
  log.warn("wallet.record_ambiguous", { organizationId, messageId });
  if (await returnMoney(entries, unconfirmed)) return "returned";
  const voided = await tryTransact({ entry: ledgerEntry(voidEntry(first)) }).catch(() => undefined);
  if (voided?.outcome === "committed") {
    await discard(unconfirmed);
    return "voided";
  }
  const found = await findItem(LedgerEntryRecord, key, { consistent: true }).catch(() => undefined);
  return found?.id === first.id ? "recorded" : "unknown";
}

/**
 * Voids the entries of a debit and returns its money, in one transaction. If that fails, the reconciler returns the money later.
 * @returns whether it succeeded
 */
async function returnMoney(
  entries: readonly NewLedgerEntry[],
  unconfirmed: UnconfirmedMessage | undefined,
): Promise<boolean> {
  const [first] = entries;
  if (first === undefined) return false;
  const { organizationId, createdAt } = first;
  const amountMicros = -sumOf(entries);
  const messages = entries.filter(({ type }) => type === "message");
  const acceptedMicros = -sumOf(messages);
  const feeMicros = amountMicros - acceptedMicros;
  try {
    const returned = await postToWallet({
      organizationId,
      type: "refund",
      amountMicros,
      notAccepted: { day: dayOf(createdAt), accepted: messages.length, acceptedMicros, feeMicros },
      together: () => entries.map((entry) => ledgerEntry({ ...voidEntry(entry), isReturned: true })),
    });
    if (returned === undefined) return false;
  } catch (error) {
    log.warn("wallet.debit_not_returned", { organizationId, seq: first.seq, error });
    return false;
  }
  await discard(unconfirmed);
  return true;
}
