import { setTimeout as delay } from "node:timers/promises";

import * as z from "zod";

import { ApiError } from "../contract/errors.ts";
import type { Wallet } from "../contract/wallet.ts";
import { now, secondMs } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { log } from "../platform/log.ts";
import { keys } from "../platform/table/keys.ts";
import { queryItems, readItem, transact, updateItem, type Put, type Write } from "../platform/table/table.ts";
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
  /** Since when an operator has kept money from leaving or entering it, refunds and adjustments aside. */
  closedAt: z.string().optional(),
  /** Why, for other operators. */
  closedReason: z.string().optional(),
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
  return {
    balance: amountOf(wallet.balanceMicros),
    currency,
    updatedAt: wallet.lastAt,
    closedAt: wallet.closedAt,
  };
}

/** To the customer a closed wallet is like none, as far as it is to be used. */
function walletClosed(): ApiError {
  return new ApiError("WALLET_MISSING", { message: "The organisation's wallet is closed." });
}

/** What one message took from the wallet. */
export interface Debit {
  /** The id that its ledger entry must have. */
  readonly entryId: string;
  readonly seq: number;
  readonly amountMicros: number;
  readonly balanceAfterMicros: number;
}

/**
 * Takes the prices of messages from the wallet, all or none, in one conditional update and never twice.
 * Concurrent debits queue up at the item instead of cancelling each other, as transactions would. Each price
 * takes a `seq`, in order, whose ledger entry the caller writes; where it cannot, the gap proves that the debit
 * was lost.
 * @throws ApiError WALLET_MISSING, INSUFFICIENT_BALANCE; UNAVAILABLE when it is not known whether it landed
 */
export async function debitWallet(
  organizationId: string,
  amountsMicros: readonly number[],
  at: Date,
): Promise<Debit[]> {
  const entryIds = amountsMicros.map(() => newId("txn"));
  const lastId = entryIds.at(-1) ?? "";
  const debited = await applyDebit(organizationId, lastId, amountsMicros, at).catch((error: unknown) =>
    resolveAmbiguousDebit(organizationId, lastId, error),
  );
  if (!debited.applied) {
    if (debited.found === undefined) throw new ApiError("WALLET_MISSING");
    if (WalletRecord.parse(debited.found).closedAt !== undefined) throw walletClosed();
    throw new ApiError("INSUFFICIENT_BALANCE");
  }
  return ledgerOfDebit(debited.item, amountsMicros, entryIds);
}

/** The seq of each price, and the balance behind it, from the wallet as the debit left it. */
function ledgerOfDebit(
  after: WalletRecord,
  amountsMicros: readonly number[],
  entryIds: readonly string[],
): Debit[] {
  let seq = after.seq - amountsMicros.length;
  let balanceAfterMicros = after.balanceMicros + sum(amountsMicros);
  return amountsMicros.map((amountMicros, index) => {
    seq += 1;
    balanceAfterMicros -= amountMicros;
    return { entryId: entryIds[index] ?? "", seq, amountMicros, balanceAfterMicros };
  });
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

async function applyDebit(
  organizationId: string,
  entryId: string,
  amountsMicros: readonly number[],
  at: Date,
) {
  return updateItem(
    WalletRecord,
    {
      key: keys.wallet(organizationId),
      update:
        "SET balanceMicros = balanceMicros - :amount, seq = seq + :count, " +
        "messageCount = messageCount + :count, lastId = :entryId, lastAt = :at",
      // A wallet that is not there fails this too, but without an old item: no extra read tells them apart.
      condition: "balanceMicros >= :amount AND attribute_not_exists(closedAt)",
      values: {
        ":amount": sum(amountsMicros),
        ":count": amountsMicros.length,
        ":entryId": entryId,
        ":at": at.toISOString(),
      },
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

/** A change of the balance that is not a charge for messages. */
export interface Posting {
  readonly organizationId: string;
  readonly type: "adjustment" | "refund" | "top_up";
  /** Negative when money leaves the wallet. */
  readonly amountMicros: number;
  readonly messageId?: string;
  /** Why an operator made it. */
  readonly reason?: string;
  /** A write that belongs to it, given the wallet as it will be: all of it happens, or nothing. */
  readonly together?: (after: WalletRecord) => Write;
  /** What it settles, of a refund by the reconciler. */
  readonly settles?: Settlement;
}

/** How often a posting is tried when others come in between, and for how long; each try sees the newest seq. */
const postingAttempts = 50;
const postingTimeMs = 8 * secondMs;
const maxPostingDelayMs = 100;

/**
 * Changes a wallet's balance and writes the ledger entry of it, in one transaction that is conditioned on the
 * `seq` it saw. It therefore never leaves a gap in the ledger, and every gap is a charge for messages.
 * @returns the wallet after it, or undefined when `together` or another settlement stood in the way
 * @throws ApiError WALLET_MISSING; INSUFFICIENT_BALANCE below zero, CONFLICT above the largest balance;
 *   UNAVAILABLE when too many debits came in between
 */
export async function postToWallet(posting: Posting): Promise<WalletRecord | undefined> {
  const entryId = newId("txn");
  const deadline = now().getTime() + postingTimeMs;
  let seen = await readWallet(posting.organizationId);
  for (let attempt = 1; attempt <= postingAttempts && now().getTime() < deadline; attempt += 1) {
    const after = walletAfter(seen, posting, entryId);
    const writes: Write[] = [
      postingUpdate(seen, after, posting),
      ledgerEntry({
        id: entryId,
        organizationId: posting.organizationId,
        type: posting.type,
        seq: after.seq,
        amountMicros: posting.amountMicros,
        balanceAfterMicros: after.balanceMicros,
        messageId: posting.messageId,
        reason: posting.reason,
        createdAt: after.lastAt,
      }),
      ...(posting.together === undefined ? [] : [posting.together(after)]),
    ];
    // One attempt: after meeting a debit the seq is another one, and the same writes would be refused.
    const result = await transact(writes, 1).catch(async (error: unknown) =>
      resolveAmbiguousPosting(after, entryId, error),
    );
    if (result.committed) return after;
    const [wallet, entry, together] = result.refusals;
    // An earlier attempt may have landed although its answer was lost; the entry at its seq tells.
    if (entry?.found !== undefined && LedgerEntryRecord.parse(entry.found).id === entryId) return after;
    if (together !== undefined) return undefined;
    seen =
      wallet?.found === undefined ? await readWallet(seen.organizationId) : WalletRecord.parse(wallet.found);
    // Another pass of the reconciler came first and has done what this posting is for.
    if (posting.settles !== undefined && seen.settledSeq !== posting.settles.from) return undefined;
    await delay(Math.random() * Math.min(maxPostingDelayMs, 5 * attempt));
  }
  throw new ApiError("UNAVAILABLE");
}

/** A posting whose answer was lost is known by its entry; where there is none it may still land, so a 503. */
async function resolveAmbiguousPosting(after: WalletRecord, entryId: string, error: unknown) {
  const { organizationId, seq } = after;
  log.warn("wallet.posting_ambiguous", { organizationId, error });
  const entry = await readItem(LedgerEntryRecord, keys.ledgerEntry(organizationId, seq), {
    consistent: true,
  }).catch(() => undefined);
  if (entry?.id === entryId) return { committed: true } as const;
  throw new ApiError("UNAVAILABLE", { cause: error });
}

function walletAfter(seen: WalletRecord, posting: Posting, entryId: string): WalletRecord {
  if (seen.closedAt !== undefined && posting.type === "top_up") throw walletClosed();
  const balanceMicros = seen.balanceMicros + posting.amountMicros;
  if (balanceMicros < 0) throw new ApiError("INSUFFICIENT_BALANCE");
  if (balanceMicros > maxBalanceMicros) {
    throw new ApiError("CONFLICT", { message: "The wallet cannot hold that much." });
  }
  return { ...seen, balanceMicros, seq: seen.seq + 1, lastId: entryId, lastAt: now().toISOString() };
}

function postingUpdate(seen: WalletRecord, after: WalletRecord, { type, settles }: Posting): Write {
  const change = "balanceMicros = :balance, seq = :seq, lastId = :lastId, lastAt = :lastAt";
  const condition = type === "top_up" ? "seq = :seen AND attribute_not_exists(closedAt)" : "seq = :seen";
  return {
    key: keys.wallet(seen.organizationId),
    update: settles === undefined ? `SET ${change}` : `${settlementUpdate}, ${change}`,
    condition: settles === undefined ? condition : `${settlementCondition} AND ${condition}`,
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
