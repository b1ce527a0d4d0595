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

interface Charging<Recorded extends Recording> extends Debit {
  /** Returns the record of the debit. @param wallet the wallet after the debit */
  readonly recording: (wallet: WalletRecord) => Recorded;
}

/** The record of a debit in addition to its ledger entries. */
export interface Recording {
  /** The ids of the paid messages, one for each charge that is no fee. Fees come after messages. */
  readonly messageIds: readonly string[];
  /**
   * New items that are written before the ledger entries. They have no effect without the entries, and expire by their
   * `expiresAt` if the entries are never written.
   */
  readonly before?: readonly Put<"message">[];
  /** The writes in the transaction of the ledger entries: all of them are applied, or none. */
  readonly together: readonly Write[];
}

/**
 * Debits the prices of messages from a wallet, all or none and never twice. It records them in its ledger together with the
 * paid messages.
 * @param charging its writes share a transaction of a hundred writes with one entry for each charge
 * @throws ApiError ORGANIZATION_SUSPENDED, SENDING_PAUSED, WALLET_MISSING, INSUFFICIENT_BALANCE, DAILY_SPEND_CAP_REACHED,
 *   SEND_RATE_EXCEEDED. UNAVAILABLE when nothing was recorded: a possible debit was refunded, or the reconciler will refund it.
 * @returns the record
 */
export async function chargeWallet<Recorded extends Recording>({
  recording,
  ...debit
}: Charging<Recorded>): Promise<Recorded> {
  const { wallet, entries } = await debitWallet(debit);
  const recorded = recording(wallet);
  const { messageIds, before = [], together } = recorded;
  const named = entries.map((entry, index) => ({ ...entry, messageId: messageIds[index] }));
  await record(named, before, together);
  await watchBalance(wallet).catch(logPending);
  return recorded;
}

/** How often the record of a debit is tried. The money is debited, so a delay of some seconds is worth it. */
const recordAttempts = 12;

/**
 * Writes the entries of a debit, with the paid messages. All items are new and their keys unique, so contention is short. If a
 * seq has an entry already, the reconciler voided the debit and returned the money. If only a write of the caller is rejected,
 * the seqs are free, and the money is returned here.
 */
async function record(
  entries: readonly NewLedgerEntry[],
  before: readonly Put<"message">[],
  together: readonly Write[],
): Promise<void> {
  const outcome = await tryRecord(entries, before, together).catch(async (error: unknown) => {
    const result = await resolveAmbiguousRecord(entries, before);
    if (result === "recorded") return "committed";
    throw new ApiError("UNAVAILABLE", { cause: error, isUncharged: result === "returned" });
  });
  if (outcome === "committed") return;
  if (outcome === "voided") await discard(before);
  const isUncharged = outcome === "unrecorded" && (await returnMoney(entries, before));
  throw new ApiError("UNAVAILABLE", { isUncharged });
}

async function tryRecord(
  entries: readonly NewLedgerEntry[],
  before: readonly Put<"message">[],
  together: readonly Write[],
): Promise<"committed" | "unrecorded" | "voided"> {
  for (const put of before) await putItem(put, { isOwn: ({ id }) => id === put.put.id });
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

/**
 * Deletes the items that were written before the entries, which will never be written. An item that cannot be deleted now
 * expires later.
 */
async function discard(before: readonly Put<"message">[]): Promise<void> {
  await Promise.all(
    before.map(async ({ put }) =>
      // The value that it was written with: a message that was paid after all and is final has another.
      deleteItem(messageKey(put), { is: { expiresAt: put.expiresAt } }).catch((error: unknown) => {
        log.warn("wallet.not_discarded", { error });
      }),
    ),
  );
}

/**
 * Finds out whether the record was written although its response was lost. If it was not, the money is returned, or at least a void entry
 * takes the first seq. Then the record cannot be written after the caller received an error. Both are transactions, which wait
 * for writes that may still be in flight.
 */
async function resolveAmbiguousRecord(
  entries: readonly NewLedgerEntry[],
  before: readonly Put<"message">[],
): Promise<"recorded" | "returned" | "unrecorded"> {
  const [first] = entries;
  if (first === undefined) return "unrecorded";
  const { pk, sk, organizationId, messageId } = first;
  const key: Key<"ledgerEntry"> = { pk, sk };
  log.warn("wallet.record_ambiguous", { organizationId, messageId });
  if (await returnMoney(entries, before)) return "returned";
  const voided = await tryTransact({ entry: ledgerEntry(voidEntry(first)) }).catch(() => undefined);
  if (voided?.outcome === "committed") {
    await discard(before);
    return "unrecorded";
  }
  const found = await findItem(LedgerEntryRecord, key, { consistent: true }).catch(() => undefined);
  return found?.id === first.id ? "recorded" : "unrecorded";
}

/**
 * Voids the entries of a debit and returns its money, in one transaction. If that fails, the reconciler returns the money later.
 * @returns whether it succeeded
 */
async function returnMoney(
  entries: readonly NewLedgerEntry[],
  before: readonly Put<"message">[],
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
  await discard(before);
  return true;
}
