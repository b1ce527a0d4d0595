import * as z from "zod/mini";

import type { Page, PageQuery } from "../contract/primitives.ts";
import { TransactionType, type Transaction } from "../contract/wallet.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys, ledgerSortKey } from "../platform/table/keys.ts";
import { readMergedPage } from "../platform/table/page.ts";
import { queryItems, type Put } from "../platform/table/table.ts";
import { amountOf, currency } from "./money.ts";
import { ledgerPartitions, type WalletRecord } from "./record.ts";

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
  messageId: z.optional(z.string()),
  /** Present on a void entry whose transaction returned the money. */
  isReturned: z.optional(z.literal(true)),
  /** Why the operator made it. */
  reason: z.optional(z.string()),
  /** The reference of the operator's movement. For releases before 0.3, only the audit log has it. */
  reference: z.optional(z.string()),
  createdAt: z.string(),
});
export type LedgerEntryRecord = z.infer<typeof LedgerEntryRecord>;

export interface NewLedgerEntry extends Omit<LedgerEntryRecord, "entity"> {
  /** The part of the ledger that its seq is in. */
  readonly part: string;
}

/** Returns the write of one ledger entry. It fails if its seq has an entry already. */
export function ledgerEntry({ part, ...entry }: NewLedgerEntry): Put {
  const record: LedgerEntryRecord = { entity: "ledgerEntry", ...entry };
  return {
    put: { ...keys.ledgerEntry(entry.organizationId, entry.seq, part), ...record },
    condition: "attribute_not_exists(pk)",
  };
}

/**
 * Returns the void entry for a debit without a record, which is to be refunded. From then on, in-flight writes of that seq are
 * rejected.
 */
export function voidEntry(
  lost: Pick<NewLedgerEntry, "amountMicros" | "balanceAfterMicros" | "organizationId" | "part" | "seq">,
): NewLedgerEntry {
  const { organizationId, seq, part, amountMicros, balanceAfterMicros } = lost;
  return {
    id: newId("txn"),
    organizationId,
    type: "void",
    seq,
    part,
    amountMicros,
    balanceAfterMicros,
    createdAt: now().toISOString(),
  };
}

/** Reads at most `limit` entries in a range of seqs, in order and as they are now. */
export async function readLedger(
  wallet: WalletRecord,
  { from, to, limit }: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<LedgerEntryRecord[]> {
  // DynamoDB rejects a range that ends before it begins.
  if (from > to) return [];
  const range = { from: ledgerSortKey(from), to: ledgerSortKey(to), limit, consistent: true };
  const ofParts = await Promise.all(
    ledgerPartitions(wallet).map(async (pk) => queryItems(LedgerEntryRecord, { ...range, pk })),
  );
  return ofParts
    .flat()
    .toSorted((one, other) => one.seq - other.seq)
    .slice(0, limit);
}

/** Returns a page of a wallet's ledger, newest first. The wallet's seq is the number of its entries. */
export async function listLedger(wallet: WalletRecord, query: PageQuery): Promise<Page<Transaction>> {
  const page = await readMergedPage(
    LedgerEntryRecord,
    { pks: ledgerPartitions(wallet), consistent: false },
    query,
    wallet.seq,
  );
  return { rows: page.rows.map(presentEntry), meta: page.meta };
}

function presentEntry(entry: LedgerEntryRecord): Transaction {
  return {
    id: entry.id,
    type: entry.type,
    amount: amountOf(entry.amountMicros),
    balanceAfter: amountOf(entry.balanceAfterMicros),
    currency,
    messageId: entry.messageId,
    reason: entry.reason,
    reference: entry.reference,
    createdAt: entry.createdAt,
  };
}
