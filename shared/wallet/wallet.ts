import { setTimeout as delay } from "node:timers/promises";

import * as z from "zod";

import { ApiError } from "../contract/errors.ts";
import type { Wallet } from "../contract/wallet.ts";
import { now, secondMs } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys } from "../platform/keys.ts";
import { log } from "../platform/log.ts";
import { queryItems, readItem, transact, updateItem, type Put, type Write } from "../platform/table.ts";
import { ledgerEntry, LedgerEntryRecord } from "./ledger.ts";
import { amountOf, currency } from "./money.ts";

/** Every change of the balance takes the next `seq`, and the ledger has one entry for each. */
export const WalletRecord = z.object({
  entity: z.literal("wallet"),
  organizationId: z.string(),
  balanceMicros: z.int().nonnegative(),
  seq: z.int().nonnegative(),
  /** How many messages have been paid for. */
  messageCount: z.int().nonnegative(),
  /** The id of the ledger entry that belongs to the last change, whether or not it has been written. */
  lastId: z.string(),
  lastAt: z.string(),
  /** The reconciler has settled every seq up to this one. */
  settledSeq: z.int().nonnegative(),
});
export type WalletRecord = z.infer<typeof WalletRecord>;

/** Above this an amount in micro-units is no longer exact. */
const maxBalanceMicros = Number.MAX_SAFE_INTEGER;

/** The wallets are listed in so many partitions, so that no single one takes the writes of all registrations. */
export const walletListShards = 8;

/** The writes that open an empty wallet; they fail where one exists. */
export function newWallet(organizationId: string, createdAt: Date): Put[] {
  const record: WalletRecord = {
    entity: "wallet",
    organizationId,
    balanceMicros: 0,
    seq: 0,
    messageCount: 0,
    lastId: organizationId,
    lastAt: createdAt.toISOString(),
    settledSeq: 0,
  };
  // An id ends in random characters, so its last one spreads the wallets evenly.
  const shard = organizationId.charCodeAt(organizationId.length - 1) % walletListShards;
  const condition = "attribute_not_exists(pk)";
  return [
    { put: { ...keys.wallet(organizationId), ...record }, condition },
    { put: { ...keys.walletListing(shard, organizationId), entity: "walletListing" }, condition },
  ];
}

const ListingRecord = z.object({ sk: z.string() });

/** At most `limit` of the organisations with a wallet that one part of the list has, behind one of them. */
export async function listWalletsOfShard(
  shard: number,
  range: { readonly after?: string | undefined; readonly limit: number },
): Promise<string[]> {
  const { pk } = keys.walletListing(shard, "");
  return (await queryItems(ListingRecord, { pk, ...range })).map(({ sk }) => sk);
}

/** The organisations of all wallets, read a hundred at a time. */
export async function* listWallets(): AsyncGenerator<string> {
  const limit = 100;
  for (let shard = 0; shard < walletListShards; shard += 1) {
    let batch: string[] = [];
    do {
      batch = await listWalletsOfShard(shard, { after: batch.at(-1), limit });
      yield* batch;
    } while (batch.length === limit);
  }
}

/**
 * The wallet as it is now.
 * @throws ApiError WALLET_MISSING
 */
export async function readWallet(organizationId: string): Promise<WalletRecord> {
  const wallet = await readItem(WalletRecord, keys.wallet(organizationId), { consistent: true });
  if (wallet === undefined) throw new ApiError("WALLET_MISSING");
  return wallet;
}

/** How many messages an organisation has paid for; 0 where it has no wallet. */
export async function countPaidMessages(organizationId: string): Promise<number> {
  const wallet = await readItem(WalletRecord, keys.wallet(organizationId), { consistent: true });
  return wallet?.messageCount ?? 0;
}

export function presentWallet(wallet: WalletRecord): Wallet {
  return { balance: amountOf(wallet.balanceMicros), currency, updatedAt: wallet.lastAt };
}

export interface Debit {
  /** The id that its ledger entry must have. */
  readonly entryId: string;
  readonly seq: number;
  readonly amountMicros: number;
  readonly balanceAfterMicros: number;
}

/**
 * Takes the price of one message from the wallet, in one conditional update and never twice. Concurrent
 * debits queue up at the item instead of cancelling each other, as transactions would. The caller writes the
 * ledger entry of the returned `seq`; where it cannot, the gap proves that the debit was lost.
 * @throws ApiError WALLET_MISSING, INSUFFICIENT_BALANCE; UNAVAILABLE when it is not known whether it landed
 */
export async function debitWallet(organizationId: string, amountMicros: number, at: Date): Promise<Debit> {
  const entryId = newId("txn");
  const debited = await applyDebit(organizationId, entryId, amountMicros, at).catch((error: unknown) =>
    resolveAmbiguousDebit(organizationId, entryId, error),
  );
  if (!debited.applied) {
    throw new ApiError(debited.found === undefined ? "WALLET_MISSING" : "INSUFFICIENT_BALANCE");
  }
  return { entryId, seq: debited.item.seq, amountMicros, balanceAfterMicros: debited.item.balanceMicros };
}

async function applyDebit(organizationId: string, entryId: string, amountMicros: number, at: Date) {
  return updateItem(
    WalletRecord,
    {
      key: keys.wallet(organizationId),
      update:
        "SET balanceMicros = balanceMicros - :amount, seq = seq + :one, " +
        "messageCount = messageCount + :one, lastId = :entryId, lastAt = :at",
      // A wallet that is not there fails this too, but without an old item: no extra read tells them apart.
      condition: "balanceMicros >= :amount",
      values: { ":amount": amountMicros, ":one": 1, ":entryId": entryId, ":at": at.toISOString() },
    },
    { singleEffect: true },
  );
}

/**
 * A debit whose answer was lost is never sent again. If the wallet's last change is ours it landed, and the
 * send goes on; otherwise it may have landed and been overtaken, so the caller gets a 503 and the gap that
 * the debit may have left is refunded by the reconciler.
 */
async function resolveAmbiguousDebit(organizationId: string, entryId: string, error: unknown) {
  log.warn("wallet.debit_ambiguous", { organizationId, error });
  const wallet = await readItem(WalletRecord, keys.wallet(organizationId), { consistent: true }).catch(
    () => undefined,
  );
  if (wallet?.lastId === entryId) return { applied: true, item: wallet } as const;
  throw new ApiError("UNAVAILABLE", { cause: error });
}

/** What a pass of the reconciler settled: the seqs after `from` up to `to`, of which so many were lost debits. */
export interface Settlement {
  readonly from: number;
  readonly to: number;
  readonly voids: number;
}

/** Notes how far a wallet is settled; does nothing when another pass came first. */
export async function settleWallet(organizationId: string, settled: Settlement): Promise<void> {
  await updateItem(WalletRecord, {
    key: keys.wallet(organizationId),
    update: settlementUpdate,
    condition: settlementCondition,
    values: settlementValues(settled),
  });
}

// A lost debit was counted as a message that was paid for.
const settlementUpdate = "SET settledSeq = :settledTo, messageCount = messageCount - :voids";
const settlementCondition = "settledSeq = :settledFrom";

function settlementValues({ from, to, voids }: Settlement): Record<string, number> {
  return { ":settledFrom": from, ":settledTo": to, ":voids": voids };
}

export interface Credit {
  readonly organizationId: string;
  readonly type: "refund" | "top_up";
  readonly amountMicros: number;
  readonly messageId?: string;
  /** A write that belongs to the credit, given the wallet as it will be: all of it happens, or nothing. */
  readonly together?: (after: WalletRecord) => Write;
  /** What the credit settles, of a refund by the reconciler. */
  readonly settles?: Settlement;
}

/** How often a credit is tried when others come in between, and for how long; each try sees the newest seq. */
const creditAttempts = 50;
const creditTimeMs = 8 * secondMs;
const maxCreditDelayMs = 100;

/**
 * Adds money to a wallet and writes its ledger entry, in one transaction that is conditioned on the `seq` it
 * saw. A credit therefore never leaves a gap in the ledger, and every gap is a debit.
 * @returns the wallet after the credit, or undefined when `together` or another settlement stood in the way
 * @throws ApiError WALLET_MISSING, CONFLICT above the largest balance; UNAVAILABLE when too many debits came in between
 */
export async function creditWallet(credit: Credit): Promise<WalletRecord | undefined> {
  const entryId = newId("txn");
  const deadline = now().getTime() + creditTimeMs;
  let seen = await readWallet(credit.organizationId);
  for (let attempt = 1; attempt <= creditAttempts && now().getTime() < deadline; attempt += 1) {
    const after = walletAfter(seen, credit, entryId);
    const writes: Write[] = [
      creditUpdate(seen, after, credit.settles),
      ledgerEntry({
        id: entryId,
        organizationId: credit.organizationId,
        type: credit.type,
        seq: after.seq,
        amountMicros: credit.amountMicros,
        balanceAfterMicros: after.balanceMicros,
        messageId: credit.messageId,
        createdAt: after.lastAt,
      }),
      ...(credit.together === undefined ? [] : [credit.together(after)]),
    ];
    // One attempt: after meeting a debit the seq is another one, and the same writes would be refused.
    const result = await transact(writes, 1).catch(async (error: unknown) =>
      resolveAmbiguousCredit(after, entryId, error),
    );
    if (result.committed) return after;
    const [wallet, entry, together] = result.refusals;
    // An earlier attempt may have landed although its answer was lost; the entry at its seq tells.
    if (entry?.found !== undefined && LedgerEntryRecord.parse(entry.found).id === entryId) return after;
    if (together !== undefined) return undefined;
    seen =
      wallet?.found === undefined ? await readWallet(seen.organizationId) : WalletRecord.parse(wallet.found);
    // Another pass of the reconciler came first and has done what this credit is for.
    if (credit.settles !== undefined && seen.settledSeq !== credit.settles.from) return undefined;
    await delay(Math.random() * Math.min(maxCreditDelayMs, 5 * attempt));
  }
  throw new ApiError("UNAVAILABLE");
}

/** A credit whose answer was lost is known by its entry; where there is none it may still land, so a 503. */
async function resolveAmbiguousCredit(after: WalletRecord, entryId: string, error: unknown) {
  const { organizationId, seq } = after;
  log.warn("wallet.credit_ambiguous", { organizationId, error });
  const entry = await readItem(LedgerEntryRecord, keys.ledgerEntry(organizationId, seq), {
    consistent: true,
  }).catch(() => undefined);
  if (entry?.id === entryId) return { committed: true } as const;
  throw new ApiError("UNAVAILABLE", { cause: error });
}

function walletAfter(seen: WalletRecord, credit: Credit, entryId: string): WalletRecord {
  const balanceMicros = seen.balanceMicros + credit.amountMicros;
  if (balanceMicros > maxBalanceMicros) {
    throw new ApiError("CONFLICT", { message: "The wallet cannot hold that much." });
  }
  return { ...seen, balanceMicros, seq: seen.seq + 1, lastId: entryId, lastAt: now().toISOString() };
}

function creditUpdate(seen: WalletRecord, after: WalletRecord, settles: Settlement | undefined): Write {
  const change = "balanceMicros = :balance, seq = :seq, lastId = :lastId, lastAt = :lastAt";
  return {
    key: keys.wallet(seen.organizationId),
    update: settles === undefined ? `SET ${change}` : `${settlementUpdate}, ${change}`,
    condition: settles === undefined ? "seq = :seen" : `${settlementCondition} AND seq = :seen`,
    values: {
      ...(settles === undefined ? {} : settlementValues(settles)),
      ":balance": after.balanceMicros,
      ":seq": after.seq,
      ":lastId": after.lastId,
      ":lastAt": after.lastAt,
      ":seen": seen.seq,
    },
  };
}
