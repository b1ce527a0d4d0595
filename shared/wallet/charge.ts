import { setTimeout as delay } from "node:timers/promises";

import { ApiError } from "../contract/errors.ts";
import { dayOf, now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { whileFree } from "../platform/table/lease.ts";
import {
  deleteItem,
  findItem,
  putItem,
  tryTransact,
  updateItem,
  type Outcome,
  type Put,
  type Write,
} from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { ledgerEntry, LedgerEntryRecord, voidEntry, type NewLedgerEntry } from "./ledger.ts";
import { notifyCapReached, notifyLowBalance } from "./notify.ts";
import { postToWallet } from "./post.ts";
import { ledgerPartOf, walletClosed, WalletRecord } from "./record.ts";
import { toBeSettled } from "./settlement.ts";
import {
  capReached,
  rejectionReason,
  sendRateExceeded,
  resetDailyWindow,
  refillBucket,
  reserve,
  type AcceptedOfDay,
  type Reservation,
} from "./spending-limits.ts";

/*
 * Charging a wallet takes two writes: a debit, and the record of it in the ledger. The debit is one conditional
 * update, because concurrent ones queue up at the item where transactions would cancel each other. Each price takes
 * the next `seq`, and every `seq` gets exactly one ledger entry: from here, or else a void one from here or from the
 * reconciler, which finds the debit that was lost by the gap that it left.
 */

/** How often a debit is tried while postings have their turns, and how long it waits in between at the most. */
const debitAttempts = 100;
const maxDebitDelayMs = 50;

/** The price of one message. */
export interface Charge {
  readonly amountMicros: number;
}

interface Debit {
  readonly organizationId: string;
  readonly charges: readonly Charge[];
  readonly at: Date;
  /** Whether they count among the sends of the second; those of a campaign are paced by its worker. */
  readonly isPaced?: boolean;
  /** Notes what was accepted on a day that is over, before the wallet moves on to the next one. */
  readonly keepAccepted: (accepted: AcceptedOfDay) => Promise<void>;
}

interface Charging<Recorded extends Recording> extends Debit {
  /** What is recorded, given the wallet behind the debit. */
  readonly recording: (wallet: WalletRecord) => Recorded;
}

/** What is recorded of a debit beside its ledger entries. */
export interface Recording {
  /** The ids of what was paid for, one for each charge. */
  readonly messageIds: readonly string[];
  /**
   * What is written before the ledger entries: new items that mean nothing without them, and that vanish in time, by
   * their `expiresAt`, if the entries are never written.
   */
  readonly before?: readonly Put[];
  /** What is recorded together with the ledger entries: all of it is written, or nothing. */
  readonly together: readonly Write[];
}

/**
 * Takes the prices of messages from a wallet, all or none and never twice, and records them in its ledger together
 * with what was paid for.
 * @param charging two writes of the hundred of a transaction are needed for nothing but a charge's own entry
 * @throws ApiError ORGANIZATION_SUSPENDED, WALLET_MISSING, INSUFFICIENT_BALANCE, DAILY_SPEND_CAP_REACHED, SEND_RATE_EXCEEDED; UNAVAILABLE when
 *   nothing was recorded: what the wallet may have been debited was given back, or will be by the reconciler
 * @returns what was recorded
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
  await notifyLowBalance(wallet).catch(logPending);
  return recorded;
}

/**
 * The first of the two writes: takes the prices from the balance.
 * @returns the wallet behind it, and the ledger entries that it is owed
 * @throws ApiError as `chargeWallet`
 */
export async function debitWallet(
  charging: Debit,
): Promise<{ readonly wallet: WalletRecord; readonly entries: NewLedgerEntry[] }> {
  const { organizationId, charges } = charging;
  const entryIds = charges.map(() => newId("txn"));
  const lastId = entryIds.at(-1) ?? "";
  for (let attempt = 1; attempt <= debitAttempts; attempt += 1) {
    const debited = await applyDebit(charging, lastId).catch(async (error: unknown) =>
      resolveAmbiguousDebit(organizationId, lastId, error),
    );
    if (debited.applied) {
      return { wallet: debited.item, entries: entriesOf(charging, debited.item, entryIds) };
    }
    if (debited.found === undefined) throw new ApiError("WALLET_MISSING");
    const wallet = WalletRecord.parse(debited.found);
    if (wallet.suspendedAt !== undefined) throw new ApiError("ORGANIZATION_SUSPENDED");
    if (wallet.closedAt !== undefined) throw walletClosed();
    if (wallet.balanceMicros < sumOf(charges)) throw new ApiError("INSUFFICIENT_BALANCE");
    switch (rejectionReason(wallet, reservationOf(charging))) {
      case "day":
        await resetDailyWindow(wallet, charging.keepAccepted);
        break;
      case "bucket":
        await refillBucket(wallet);
        break;
      case "cap":
        await notifyCapReached(wallet).catch(logPending);
        throw capReached();
      case "rate":
        throw sendRateExceeded(wallet);
      case "none":
        // A posting holds the lock; all else is as it should be.
        await delay(Math.random() * maxDebitDelayMs);
    }
  }
  throw new ApiError("UNAVAILABLE");
}

function reservationOf({ charges, isPaced = false }: Debit): Reservation {
  return { amountMicros: sumOf(charges), sends: charges.length, isPaced };
}

/** What could not be told is told at the next debit or refusal, or by the reconciler. */
function logPending(error: unknown): void {
  log.warn("wallet.event_untold", { error });
}

async function applyDebit(debit: Debit, lastId: string): Promise<Outcome<WalletRecord>> {
  const { organizationId, charges, at } = debit;
  const limits = reserve(reservationOf(debit));
  const amountMicros = sumOf(charges);
  const count = charges.length;
  const lastAt = at.toISOString();
  const { set, setIfAbsent } = toBeSettled(organizationId, lastAt);
  return updateItem(
    WalletRecord,
    updateOf(
      keys.wallet(organizationId),
      {
        add: { balanceMicros: -amountMicros, seq: count, messageCount: count, ...limits.add },
        set: { ...set, lastId, lastAt },
        setIfAbsent,
      },
      // A wallet that is not there fails this too, but without an old item: no extra read tells them apart.
      whileFree(now(), {
        absent: ["closedAt", "suspendedAt"],
        where: `#balanceMicros >= :amount AND ${limits.where}`,
        values: { ":amount": amountMicros, ...limits.values },
      }),
    ),
    { singleEffect: true },
  );
}

/**
 * A debit whose answer was lost is never sent again. If the wallet's last change is ours it landed, and the
 * send goes on; otherwise it may have landed and been overtaken, so the caller gets a 503 and the gap that
 * the debit may have left is refunded by the reconciler.
 */
async function resolveAmbiguousDebit(
  organizationId: string,
  lastId: string,
  error: unknown,
): Promise<Outcome<WalletRecord>> {
  log.warn("wallet.debit_ambiguous", { organizationId, error });
  const wallet = await findItem(WalletRecord, keys.wallet(organizationId), { consistent: true }).catch(
    () => undefined,
  );
  if (wallet?.lastId === lastId) return { applied: true, item: wallet };
  throw new ApiError("UNAVAILABLE", { cause: error });
}

/** The seq of each price, and the balance behind it, from the wallet as the debit left it. */
function entriesOf(
  { organizationId, charges, at }: Debit,
  after: WalletRecord,
  entryIds: readonly string[],
): NewLedgerEntry[] {
  let seq = after.seq - charges.length;
  let balanceAfterMicros = after.balanceMicros + sumOf(charges);
  return charges.map(({ amountMicros }, index) => {
    seq += 1;
    balanceAfterMicros -= amountMicros;
    return {
      id: entryIds[index] ?? "",
      organizationId,
      type: "message",
      seq,
      part: ledgerPartOf(after, seq),
      amountMicros: -amountMicros,
      balanceAfterMicros,
      createdAt: at.toISOString(),
    };
  });
}

function sumOf(amounts: readonly Pick<Charge, "amountMicros">[]): number {
  return amounts.reduce((sum, { amountMicros }) => sum + amountMicros, 0);
}

/** How often the record of a debit is tried: it has the money, so it is worth some seconds of waiting. */
const recordAttempts = 12;

/**
 * Writes the entries of a debit, with what was paid for. All items are new and their keys unique, so nothing
 * contends for long. A seq that is taken means that the reconciler gave the debit up and returned the money.
 */
async function record(
  entries: readonly NewLedgerEntry[],
  before: readonly Put[],
  together: readonly Write[],
): Promise<void> {
  const outcome = await tryRecord(entries, before, together).catch(async (error: unknown) => {
    if (await isRecordedAfterAll(entries, before)) return "committed";
    throw new ApiError("UNAVAILABLE", { cause: error });
  });
  if (outcome === "committed") return;
  if (outcome === "contended") await giveBack(entries, before);
  else await discard(before);
  throw new ApiError("UNAVAILABLE");
}

async function tryRecord(
  entries: readonly NewLedgerEntry[],
  before: readonly Put[],
  together: readonly Write[],
): Promise<"committed" | "contended" | "refused"> {
  for (const put of before) await putItem(put, { isOwn: ({ id }) => id === put.put["id"] });
  const [entry] = entries;
  if (entry === undefined || entries.length > 1 || together.length > 0) {
    const result = await tryTransact({ entries: entries.map(ledgerEntry), together }, recordAttempts);
    if (result.outcome !== "refused") return result.outcome;
    // An earlier attempt may have succeeded although its response was lost: then the entry at its seq is its own.
    const found = result.refusals.entries?.found;
    return found !== undefined && found["id"] === entry?.id ? "committed" : "refused";
  }
  // An entry alone takes no transaction, which costs twice as much.
  const written = await putItem(ledgerEntry(entry), { isOwn: ({ id }) => id === entry.id });
  return written.applied ? "committed" : "refused";
}

/**
 * Takes away what was written before entries that will never be, as long as it would vanish anyway. What cannot be taken
 * away now vanishes later.
 */
async function discard(before: readonly Put[]): Promise<void> {
  await Promise.all(
    before.map(async ({ put: { pk, sk, expiresAt } }) =>
      // The very moment that it was written with: what was paid after all and has ended has another.
      deleteItem(
        { pk, sk },
        { condition: "expiresAt = :expiresAt", values: { ":expiresAt": expiresAt } },
      ).catch((error: unknown) => {
        log.warn("wallet.not_discarded", { error });
      }),
    ),
  );
}

/**
 * Whether the record landed although its answer was lost. If it did not, the money is given back, or at least its first
 * seq is taken by a void entry, so that it cannot land after the caller was told that it did not. Both are transactions,
 * which have to wait for what may still be running.
 */
async function isRecordedAfterAll(
  entries: readonly NewLedgerEntry[],
  before: readonly Put[],
): Promise<boolean> {
  const [first] = entries;
  if (first === undefined) return false;
  const { organizationId, seq, part, messageId } = first;
  log.warn("wallet.record_ambiguous", { organizationId, messageId });
  if (await giveBack(entries, before)) return false;
  const sealed = await tryTransact({ entry: ledgerEntry(voidEntry(first)) }).catch(() => undefined);
  if (sealed?.outcome === "committed") {
    await discard(before);
    return false;
  }
  const found = await findItem(LedgerEntryRecord, keys.ledgerEntry(organizationId, seq, part), {
    consistent: true,
  }).catch(() => undefined);
  return found?.id === first.id;
}

/**
 * Voids the entries of a debit and returns its money, in one transaction. What cannot be given back now is left to the
 * reconciler.
 * @returns whether it was
 */
async function giveBack(entries: readonly NewLedgerEntry[], before: readonly Put[]): Promise<boolean> {
  const [first] = entries;
  if (first === undefined) return false;
  const { organizationId, createdAt } = first;
  const amountMicros = -sumOf(entries);
  try {
    const returned = await postToWallet({
      organizationId,
      type: "refund",
      amountMicros,
      uncounts: { day: dayOf(createdAt), accepted: entries.length, acceptedMicros: amountMicros },
      together: () => entries.map((entry) => ledgerEntry({ ...voidEntry(entry), isReturned: true })),
    });
    if (returned === undefined) return false;
  } catch (error) {
    log.warn("wallet.not_given_back", { organizationId, seq: first.seq, error });
    return false;
  }
  await discard(before);
  return true;
}
