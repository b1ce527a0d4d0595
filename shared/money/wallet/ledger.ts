import * as z from "zod/mini";

import { TransactionType } from "../../api/contract/wallet.ts";
import { now } from "../../platform/clock.ts";
import { newId } from "../../platform/ids.ts";
import { ledgerSortKey, type Key } from "../../platform/table/keys.ts";
import { firstItems } from "../../platform/table/lists.ts";
import { ledgerOf, type Sharded } from "../../platform/table/shards.ts";
import { insertOf, type Put } from "../../platform/table/write.ts";

/** The fields of a message that its entries have as well, so that sums of the ledger need no messages. */
const ofMessage = {
  /** As an ISO 3166-1 code, or XK; absent for numbers without a country. */
  country: z.optional(z.string()),
  segments: z.optional(z.int().check(z.positive())),
  campaignId: z.optional(z.string()),
  /** The verification of a fee. */
  verificationId: z.optional(z.string()),
};
const OfMessage = z.object(ofMessage);
export type OfMessage = z.infer<typeof OfMessage>;

/** One change of a wallet's balance. Entries are never changed. */
export const LedgerEntryRecord = z.object({
  entity: z.literal("ledgerEntry"),
  id: z.string(),
  organizationId: z.string(),
  type: TransactionType,
  seq: z.int().check(z.positive()),
  /** Negative when money left the wallet. */
  amountMicros: z.int(),
  /** Below 0 only after a chargeback of money that had been spent. */
  balanceAfterMicros: z.int(),
  /**
   * How many fees were debited up to this entry, as the wallet counts them. So the neighbors of a lost debit show how many fees
   * it had. Absent from entries of older releases.
   */
  feeCount: z.optional(z.int()),
  messageId: z.optional(z.string()),
  ...ofMessage,
  /** The payment that the entry belongs to. */
  paymentId: z.optional(z.string()),
  /** Present on a void entry whose transaction returned the money. */
  isReturned: z.optional(z.literal(true)),
  /** Why the operator made it. */
  reason: z.optional(z.string()),
  /** The reference of the operator's movement. */
  reference: z.optional(z.string()),
  createdAt: z.string(),
});
export type LedgerEntryRecord = z.infer<typeof LedgerEntryRecord>;

/** A new entry with its key. */
export interface NewLedgerEntry extends LedgerEntryRecord, Key<"ledgerEntry"> {}

/** Returns the write of one ledger entry. It fails if its seq has an entry already. */
export function ledgerEntry({ pk, sk, ...entry }: NewLedgerEntry): Put {
  return insertOf<"ledgerEntry">({ pk, sk }, entry);
}

/**
 * Returns the void entry for a debit without a record, which is to be refunded. From then on, in-flight writes of that seq are
 * rejected.
 */
export function voidEntry({
  pk,
  sk,
  organizationId,
  seq,
  amountMicros,
  balanceAfterMicros,
  feeCount,
}: Omit<NewLedgerEntry, "createdAt" | "entity" | "id" | "type">): NewLedgerEntry {
  return {
    pk,
    sk,
    entity: "ledgerEntry",
    id: newId("txn"),
    organizationId,
    type: "void",
    seq,
    amountMicros,
    balanceAfterMicros,
    feeCount,
    createdAt: now().toISOString(),
  };
}

/** Reads at most `limit` entries in a range of seqs, in order and as they are now. */
export async function readLedger(
  wallet: Sharded,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
  { skipsUnreadable = false } = {},
): Promise<LedgerEntryRecord[]> {
  // DynamoDB rejects a range that ends before it begins.
  if (from > to) return [];
  const range = { from: ledgerSortKey(from), to: ledgerSortKey(to), consistent: true, skipsUnreadable };
  return firstItems(LedgerEntryRecord, { pk: ledgerOf(wallet), ...range }, limit);
}
