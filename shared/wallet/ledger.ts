import * as z from "zod";

import type { Page, PageQuery } from "../contract/primitives.ts";
import { TransactionType, type Transaction } from "../contract/wallet.ts";
import { now } from "../platform/clock.ts";
import { newId } from "../platform/ids.ts";
import { keys, ledgerSortKey } from "../platform/table/keys.ts";
import { readPage } from "../platform/table/page.ts";
import { queryItems, type Put } from "../platform/table/table.ts";
import { amountOf, currency } from "./money.ts";

/** One change of a wallet's balance. Entries are never changed. */
export const LedgerEntryRecord = z.object({
  entity: z.literal("ledgerEntry"),
  id: z.string(),
  organizationId: z.string(),
  type: TransactionType,
  seq: z.int().positive(),
  /** Negative when money left the wallet. */
  amountMicros: z.int(),
  balanceAfterMicros: z.int().nonnegative(),
  messageId: z.string().optional(),
  /** Of a void entry: that what was lost was returned in the transaction that wrote it. */
  isReturned: z.literal(true).optional(),
  /** Why an operator made it, of an adjustment. */
  reason: z.string().optional(),
  createdAt: z.string(),
});
export type LedgerEntryRecord = z.infer<typeof LedgerEntryRecord>;

export type NewLedgerEntry = Omit<LedgerEntryRecord, "entity">;

/** The write of one ledger entry; it fails where its seq is taken. */
export function ledgerEntry(entry: NewLedgerEntry): Put {
  const record: LedgerEntryRecord = { entity: "ledgerEntry", ...entry };
  return {
    put: { ...keys.ledgerEntry(entry.organizationId, entry.seq), ...record },
    condition: "attribute_not_exists(pk)",
  };
}

/**
 * The entry that takes the place of one that was never written: its debit is lost, and to be refunded. Whatever may
 * still be on its way to that seq is refused from then on.
 */
export function voidEntry(
  lost: Pick<NewLedgerEntry, "amountMicros" | "balanceAfterMicros" | "organizationId" | "seq">,
): NewLedgerEntry {
  const { organizationId, seq, amountMicros, balanceAfterMicros } = lost;
  return {
    id: newId("txn"),
    organizationId,
    type: "void",
    seq,
    amountMicros,
    balanceAfterMicros,
    createdAt: now().toISOString(),
  };
}

/** At most `limit` entries whose seq lies between two, in order, as they are now. */
export async function readLedger(
  organizationId: string,
  range: { readonly from: number; readonly to: number; readonly limit: number },
): Promise<LedgerEntryRecord[]> {
  // DynamoDB refuses a range that ends before it begins.
  if (range.from > range.to) return [];
  return queryItems(LedgerEntryRecord, {
    pk: keys.ledgerEntry(organizationId, 0).pk,
    from: ledgerSortKey(range.from),
    to: ledgerSortKey(range.to),
    limit: range.limit,
    consistent: true,
  });
}

/** A page of the ledger, newest first. `lastSeq` is the wallet's seq, which is the number of its entries. */
export async function listLedger(
  organizationId: string,
  query: PageQuery,
  lastSeq: number,
): Promise<Page<Transaction>> {
  const { pk } = keys.ledgerEntry(organizationId, lastSeq);
  const page = await readPage(
    LedgerEntryRecord.extend({ sk: z.string() }),
    { pk, newestFirst: true },
    query,
    lastSeq,
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
    createdAt: entry.createdAt,
  };
}
