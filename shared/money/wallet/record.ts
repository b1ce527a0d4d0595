import * as z from "zod/mini";

import { ApiError } from "../../api/contract/errors.ts";
import type { Wallet } from "../../api/contract/wallet.ts";
import { config } from "../../platform/config.ts";
import { shardIndex } from "../../platform/ids.ts";
import { pendingWorkFields } from "../../platform/jobs/pending-work.ts";
import { keys, type Key } from "../../platform/table/keys.ts";
import { leaseFields } from "../../platform/table/lease.ts";
import { firstItems, itemsIn } from "../../platform/table/lists.ts";
import { findItem } from "../../platform/table/read.ts";
import { oneShard, shardFields } from "../../platform/table/shards.ts";
import { insertOf, type Put } from "../../platform/table/write.ts";
import { amountOf } from "./money.ts";
import {
  spendingLimitFields,
  dailyCapMicros,
  fullSpendingLimits,
  spentTodayMicros,
} from "./spending-limits.ts";

/** A wallet. Every change of the balance has the next `seq`, and the ledger has one entry for each. */
export const WalletRecord = z.object({
  entity: z.literal("wallet"),
  organizationId: z.string(),
  /** Below 0 only after a chargeback of money that had been spent. */
  balanceMicros: z.int(),
  seq: z.int().check(z.nonnegative()),
  /** How many messages and fees have been paid for. */
  messageCount: z.int().check(z.nonnegative()),
  /** How many fees of verifications were debited, and how many of these were voided. */
  feeCount: z.optional(z.int()),
  voidedFeeCount: z.optional(z.int()),
  ...shardFields,
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
  /** A recharge follows when the balance falls below it. */
  rechargeBelowMicros: z.optional(z.int().check(z.positive())),
  /** The payment of the present recharge: no other starts before it ends. */
  rechargeId: z.optional(z.string()),
  /** When the job of that recharge was queued last, in ISO 8601. */
  rechargeJobAt: z.optional(z.string()),
  /** No recharge starts before it, in ISO 8601: the last one failed, or the monthly cap is reached. */
  rechargeNotBefore: z.optional(z.string()),
  /** Since when sends and top-ups are rejected. Refunds and the operator's movements are still applied. */
  closedAt: z.optional(z.string()),
  /** Why, for other operators. */
  closedReason: z.optional(z.string()),
  /** Since when its organization is suspended, as in the organization's record. */
  suspendedAt: z.optional(z.string()),
  /** Since when its organization has paused all sending, as in the organization's record. */
  pausedAt: z.optional(z.string()),
  /** When the erasure of the organization began. Only the ledger of its messages remains. */
  erasedAt: z.optional(z.string()),
});
export type WalletRecord = z.infer<typeof WalletRecord>;

/** The number of partitions of the list of wallets, which share the writes of all registrations. */
const walletListShards = 8;

/** Returns the writes that open an empty wallet. They fail if it exists. */
export function newWallet(
  organizationId: string,
  createdAt: Date,
): readonly [wallet: Put<"wallet">, listing: Put<"walletListing">] {
  const record: WalletRecord = {
    entity: "wallet",
    organizationId,
    balanceMicros: 0,
    seq: 0,
    messageCount: 0,
    feeCount: 0,
    ...oneShard,
    lastId: organizationId,
    lastAt: createdAt.toISOString(),
    settledSeq: 0,
    ...fullSpendingLimits(organizationId),
  };
  const shard = shardIndex(walletListShards, organizationId);
  return [
    insertOf(keys.wallet(organizationId), record),
    insertOf(keys.walletListing(shard, organizationId), { entity: "walletListing" }),
  ];
}

/** Returns the keys of a new wallet's items, to delete a wallet that never changed. It has no ledger. */
export function keysOfNewWallet(organizationId: string): Key[] {
  const shard = shardIndex(walletListShards, organizationId);
  return [keys.walletListing(shard, organizationId), keys.wallet(organizationId)];
}

export const ListingRecord = z.object({ sk: z.string() });

const walletListings = Array.from(
  { length: walletListShards },
  (_, shard) => keys.walletListing(shard, "").pk,
);

/** Yields the organizations of all wallets, or of those after one, the first registrations first. */
export async function* listWallets(after?: string): AsyncGenerator<string> {
  for await (const { sk } of itemsIn(ListingRecord, { pk: walletListings, after }, 100)) yield sk;
}

/** Reads at most `limit` organizations with a wallet after `after`, the last registrations first. */
export async function listNewestWallets({
  limit,
  after,
}: {
  readonly after?: string | undefined;
  readonly limit: number;
}): Promise<string[]> {
  const newest = { pk: walletListings, newestFirst: true, after };
  return (await firstItems(ListingRecord, newest, limit)).map(({ sk }) => sk);
}

/**
 * Reads the wallet as it is now.
 * @throws ApiError WALLET_MISSING
 */
export async function readWallet(organizationId: string): Promise<WalletRecord> {
  const wallet = await findWallet(organizationId);
  if (wallet === undefined) throw new ApiError("WALLET_MISSING");
  return wallet;
}

/** Returns the wallet as it is now; undefined when there is none. */
export async function findWallet(organizationId: string): Promise<WalletRecord | undefined> {
  return findItem(WalletRecord, keys.wallet(organizationId), { consistent: true });
}

/** Returns how many messages have been paid for. A lost debit counts as one until it is settled. */
export function paidMessages({ messageCount, feeCount = 0, voidedFeeCount = 0 }: WalletRecord): number {
  return Math.max(0, messageCount - feeCount + voidedFeeCount);
}

/** Whether an organization's wallet has money, or had money that was spent. */
export async function hasHadMoney(organizationId: string): Promise<boolean> {
  const wallet = await findWallet(organizationId);
  return wallet !== undefined && (wallet.balanceMicros > 0 || wallet.messageCount > 0);
}

export function toApiWallet(wallet: WalletRecord): Wallet {
  const capMicros = dailyCapMicros(wallet);
  const { lowBalanceThresholdMicros } = wallet;
  return {
    balance: amountOf(wallet.balanceMicros),
    currency: config.currency(),
    updatedAt: wallet.lastAt,
    spentToday: amountOf(spentTodayMicros(wallet)),
    dailySpendCap: capMicros === undefined ? undefined : amountOf(capMicros),
    lowBalanceThreshold:
      lowBalanceThresholdMicros === undefined ? undefined : amountOf(lowBalanceThresholdMicros),
    closedAt: wallet.closedAt,
    sendingPausedAt: wallet.pausedAt,
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
