import * as z from "zod/mini";

import { ApiError } from "../contract/errors.ts";
import type { Wallet } from "../contract/wallet.ts";
import { spreadOver } from "../platform/ids.ts";
import { pendingWorkFields } from "../platform/jobs/pending-work.ts";
import { keys, ledgerPartition, partNames, type Key } from "../platform/table/keys.ts";
import { leaseFields } from "../platform/table/lease.ts";
import { queryItems, findItem, updateItem, type Put } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { amountOf, currency } from "./money.ts";
import {
  spendingLimitFields,
  dailyCapMicros,
  fullSpendingLimits,
  spentTodayMicros,
} from "./spending-limits.ts";

/** One digit of a message's id names its part. */
export const maxMessageParts = 8;

/** A wallet. Every change of the balance has the next `seq`, and the ledger has one entry for each. */
export const WalletRecord = z.object({
  entity: z.literal("wallet"),
  organizationId: z.string(),
  /** Below 0 only after a chargeback of money that had been spent. */
  balanceMicros: z.int(),
  seq: z.int().check(z.nonnegative()),
  /** How many messages have been paid for. */
  messageCount: z.int().check(z.nonnegative()),
  /**
   * The number of partitions of its messages. It is a field of the wallet, because the code that accepts or lists messages has
   * read the wallet.
   */
  messageParts: z._default(z.int().check(z.gte(1), z.lte(maxMessageParts)), 1),
  /** The number of the ledger's partitions from a seq on, in order; one partition before the first. */
  ledgerParts: z._default(z.array(z.object({ fromSeq: z.int(), parts: z.int() })), []),
  /** The id of the ledger entry that belongs to the last change, whether or not it has been written. */
  lastId: z.string(),
  lastAt: z.string(),
  /** The reconciler has settled every seq up to this one. */
  settledSeq: z.int().check(z.nonnegative()),
  /** Both fields are present while not every seq is settled. */
  ...pendingWorkFields,
  /** Present while a posting locks the wallet. */
  ...leaseFields,
  ...spendingLimitFields,
  /** The customer is notified when the balance falls below it. */
  lowBalanceThresholdMicros: z.optional(z.int().check(z.positive())),
  /** While the balance is below it: when the customer was notified, or set it. */
  lowBalanceNotedAt: z.optional(z.string()),
  /** The last day on which the customer was notified that the cap was reached. */
  capReachedDay: z.optional(z.string()),
  /** Since when sends and top-ups are rejected. Refunds and the operator's movements are still applied. */
  closedAt: z.optional(z.string()),
  /** Why, for other operators. */
  closedReason: z.optional(z.string()),
  /** Since when its organization is suspended, as in the organization's record. */
  suspendedAt: z.optional(z.string()),
  /** When the erasure of the organization began. Only the ledger of its messages remains. */
  erasedAt: z.optional(z.string()),
});
export type WalletRecord = z.infer<typeof WalletRecord>;

/** The number of partitions of the list of wallets, which share the writes of all registrations. */
const walletListShards = 8;

/** Returns the writes that open an empty wallet. They fail if it exists. */
export function newWallet(organizationId: string, createdAt: Date): Put[] {
  const record: WalletRecord = {
    entity: "wallet",
    organizationId,
    balanceMicros: 0,
    seq: 0,
    messageCount: 0,
    messageParts: 1,
    ledgerParts: [],
    lastId: organizationId,
    lastAt: createdAt.toISOString(),
    settledSeq: 0,
    ...fullSpendingLimits(organizationId),
  };
  const shard = spreadOver(walletListShards, organizationId);
  const condition = "attribute_not_exists(pk)";
  return [
    { put: { ...keys.wallet(organizationId), ...record }, condition },
    { put: { ...keys.walletListing(shard, organizationId), entity: "walletListing" }, condition },
  ];
}

/** Returns the keys of a new wallet's items, to delete a wallet that never changed. It has no ledger. */
export function forgetWallet(organizationId: string): Key[] {
  const shard = spreadOver(walletListShards, organizationId);
  return [keys.walletListing(shard, organizationId), keys.wallet(organizationId)];
}

const ListingRecord = z.object({ sk: z.string() });

/** Reads at most `limit` organizations with a wallet from one shard of the list, after `after`. */
async function listWalletsOfShard(
  shard: number,
  range: { readonly after?: string | undefined; readonly limit: number },
): Promise<string[]> {
  const { pk } = keys.walletListing(shard, "");
  return (await queryItems(ListingRecord, { pk, ...range })).map(({ sk }) => sk);
}

/** Yields the organizations of all wallets, read a hundred at a time. */
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

/** Reads at most `limit` organizations with a wallet after `after`, the last registrations first. */
export async function listNewestWallets(range: {
  readonly after?: string | undefined;
  readonly limit: number;
}): Promise<string[]> {
  const ofShards = await Promise.all(
    Array.from({ length: walletListShards }, async (_, shard) => {
      const { pk } = keys.walletListing(shard, "");
      return queryItems(ListingRecord, { pk, ...range, newestFirst: true });
    }),
  );
  const ids = ofShards.flat().map(({ sk }) => sk);
  return ids.toSorted((one, other) => (one < other ? 1 : -1)).slice(0, range.limit);
}

/**
 * Reads the wallet as it is now.
 * @throws ApiError WALLET_MISSING
 */
export async function readWallet(organizationId: string): Promise<WalletRecord> {
  const wallet = await findItem(WalletRecord, keys.wallet(organizationId), { consistent: true });
  if (wallet === undefined) throw new ApiError("WALLET_MISSING");
  return wallet;
}

/** Reads how many messages an organization has paid for, and the number of their parts; 0 messages without a wallet. */
export async function sizeOfMessages(
  organizationId: string,
): Promise<Pick<WalletRecord, "messageCount" | "messageParts">> {
  const wallet = await findItem(WalletRecord, keys.wallet(organizationId), { consistent: true });
  return wallet ?? { messageCount: 0, messageParts: 1 };
}

/** Whether an organization's wallet has money, or had money that was spent. */
export async function hasHadMoney(organizationId: string): Promise<boolean> {
  const wallet = await findItem(WalletRecord, keys.wallet(organizationId), { consistent: true });
  return wallet !== undefined && (wallet.balanceMicros > 0 || wallet.messageCount > 0);
}

/**
 * Sets the number of partitions for an organization's new messages and ledger entries. Each accepts 1,000 write units a second.
 * Existing items stay where they are, so the number can only grow.
 * @param leadSeqs how many entries the ledger writes before the change, so that debits in flight use the same partitions
 * @throws ApiError CONFLICT when there are more already; WALLET_MISSING; UNAVAILABLE when more entries came meanwhile
 */
export async function spreadOrganization(
  organizationId: string,
  parts: number,
  leadSeqs = 10_000,
): Promise<void> {
  const wallet = await readWallet(organizationId);
  if (wallet.messageParts > parts) {
    throw new ApiError("CONFLICT", { message: "The messages are in more parts already." });
  }
  if (wallet.messageParts === parts) return;
  const fromSeq = wallet.seq + leadSeqs;
  const ledgerParts = [...wallet.ledgerParts, { fromSeq, parts }];
  const spread = await updateItem(
    WalletRecord,
    updateOf(
      keys.wallet(organizationId),
      { set: { messageParts: parts, ledgerParts } },
      {
        present: ["pk"],
        where: "(attribute_not_exists(#messageParts) OR #messageParts = :seen) AND seq < :fromSeq",
        values: { ":seen": wallet.messageParts, ":fromSeq": fromSeq },
      },
    ),
    { isOwn: ({ messageParts }) => messageParts === parts },
  );
  if (!spread.applied) throw new ApiError("UNAVAILABLE");
}

/** Returns the part of a wallet's ledger that a seq is in. */
export function ledgerPartOf({ ledgerParts }: Pick<WalletRecord, "ledgerParts">, seq: number): string {
  const parts = ledgerParts.findLast(({ fromSeq }) => fromSeq <= seq)?.parts ?? 1;
  return partNames(parts)[seq % parts] ?? "";
}

/** Returns the partitions of a wallet's ledger. */
export function ledgerPartitions({ organizationId, ledgerParts }: WalletRecord): string[] {
  const parts = Math.max(1, ...ledgerParts.map((each) => each.parts));
  return partNames(parts).map((part) => ledgerPartition(organizationId, part));
}

export function toApiWallet(wallet: WalletRecord): Wallet {
  const capMicros = dailyCapMicros(wallet);
  const { lowBalanceThresholdMicros } = wallet;
  return {
    balance: amountOf(wallet.balanceMicros),
    currency,
    updatedAt: wallet.lastAt,
    spentToday: amountOf(spentTodayMicros(wallet)),
    dailySpendCap: capMicros === undefined ? undefined : amountOf(capMicros),
    lowBalanceThreshold:
      lowBalanceThresholdMicros === undefined ? undefined : amountOf(lowBalanceThresholdMicros),
    closedAt: wallet.closedAt,
  };
}

/** Whether the balance is below the customer's threshold. */
export function isLow({ balanceMicros, lowBalanceThresholdMicros = 0 }: WalletRecord): boolean {
  return balanceMicros < lowBalanceThresholdMicros;
}

/** Returns the error for the use of a closed wallet, which for the customer is like none. */
export function walletClosed(): ApiError {
  return new ApiError("WALLET_MISSING", { message: "The organization's wallet is closed." });
}
