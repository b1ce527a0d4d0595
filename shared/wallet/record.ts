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

/** A digit of a message's id says in which part it is. */
export const maxMessageParts = 8;

/** Every change of the balance takes the next `seq`, and the ledger has one entry for each. */
export const WalletRecord = z.object({
  entity: z.literal("wallet"),
  organizationId: z.string(),
  /** Below 0 only after a chargeback of money that had been spent. */
  balanceMicros: z.int(),
  seq: z.int().check(z.nonnegative()),
  /** How many messages have been paid for. */
  messageCount: z.int().check(z.nonnegative()),
  /**
   * In how many partitions its messages are kept. It is here because whoever accepts messages, or lists them, has the
   * wallet at hand.
   */
  messageParts: z._default(z.int().check(z.gte(1), z.lte(maxMessageParts)), 1),
  /** From which seq on the ledger is kept in how many partitions, in order; before the first of them in one. */
  ledgerParts: z._default(z.array(z.object({ fromSeq: z.int(), parts: z.int() })), []),
  /** The id of the ledger entry that belongs to the last change, whether or not it has been written. */
  lastId: z.string(),
  lastAt: z.string(),
  /** The reconciler has settled every seq up to this one. */
  settledSeq: z.int().check(z.nonnegative()),
  /** Both are there while not every seq is settled. */
  ...pendingWorkFields,
  /** While a posting locks the wallet. */
  ...leaseFields,
  ...spendingLimitFields,
  /** The customer is told when the balance falls below it. */
  lowBalanceThresholdMicros: z.optional(z.int().check(z.positive())),
  /** While the balance is below it: when the customer was told, or set it. */
  lowBalanceNotedAt: z.optional(z.string()),
  /** The last day on which the customer was told that the cap was reached. */
  capReachedDay: z.optional(z.string()),
  /** Since when it takes no sends and no top-ups; refunds and the operator's movements still arrive. */
  closedAt: z.optional(z.string()),
  /** Why, for other operators. */
  closedReason: z.optional(z.string()),
  /** Since when its organisation is suspended, as that one's record says. */
  suspendedAt: z.optional(z.string()),
  /** Since when the organisation has been erased, or is being erased: of what was paid for there is the ledger alone. */
  erasedAt: z.optional(z.string()),
});
export type WalletRecord = z.infer<typeof WalletRecord>;

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

/** The keys of all that opens a wallet: for one that was never moved, of which there is no ledger either. */
export function forgetWallet(organizationId: string): Key[] {
  const shard = spreadOver(walletListShards, organizationId);
  return [keys.walletListing(shard, organizationId), keys.wallet(organizationId)];
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

/** At most `limit` of the organizations with a wallet, those that registered last first, behind one of them. */
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
 * The wallet as it is now.
 * @throws ApiError WALLET_MISSING
 */
export async function readWallet(organizationId: string): Promise<WalletRecord> {
  const wallet = await findItem(WalletRecord, keys.wallet(organizationId), { consistent: true });
  if (wallet === undefined) throw new ApiError("WALLET_MISSING");
  return wallet;
}

/** How many messages an organisation has paid for, and in how many parts they are kept; none where it has no wallet. */
export async function sizeOfMessages(
  organizationId: string,
): Promise<Pick<WalletRecord, "messageCount" | "messageParts">> {
  const wallet = await findItem(WalletRecord, keys.wallet(organizationId), { consistent: true });
  return wallet ?? { messageCount: 0, messageParts: 1 };
}

/** Whether money has come into an organisation's wallet, and was not taken out again before any of it was spent. */
export async function hasHadMoney(organizationId: string): Promise<boolean> {
  const wallet = await findItem(WalletRecord, keys.wallet(organizationId), { consistent: true });
  return wallet !== undefined && (wallet.balanceMicros > 0 || wallet.messageCount > 0);
}

/**
 * Lets an organisation's messages and ledger entries be kept in so many partitions from now on, each of which takes 1,000
 * write units a second. What is there stays where it is, so there can only be more.
 * @param leadSeqs how many more entries the ledger gets before: those of debits that are under way now have to know
 * @throws ApiError CONFLICT when there are more already; WALLET_MISSING; UNAVAILABLE when it got so many meanwhile
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

/** The part of a wallet's ledger that a seq is in. */
export function ledgerPartOf({ ledgerParts }: Pick<WalletRecord, "ledgerParts">, seq: number): string {
  const parts = ledgerParts.findLast(({ fromSeq }) => fromSeq <= seq)?.parts ?? 1;
  return partNames(parts)[seq % parts] ?? "";
}

/** The partitions that a wallet's ledger is in. */
export function ledgerPartitions({ organizationId, ledgerParts }: WalletRecord): string[] {
  const parts = Math.max(1, ...ledgerParts.map((each) => each.parts));
  return partNames(parts).map((part) => ledgerPartition(organizationId, part));
}

export function presentWallet(wallet: WalletRecord): Wallet {
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

/** To the customer a closed wallet is like none, as far as it is to be used. */
export function walletClosed(): ApiError {
  return new ApiError("WALLET_MISSING", { message: "The organisation's wallet is closed." });
}
