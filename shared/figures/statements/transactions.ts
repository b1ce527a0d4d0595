import { invalidField } from "../../api/contract/errors.ts";
import type { Page } from "../../api/contract/primitives.ts";
import type { Transaction, TransactionsQuery } from "../../api/contract/wallet.ts";
import { readMessages } from "../../messages/message/read-together.ts";
import { hasExpired, redactedText, type MessageRecord } from "../../messages/message/record.ts";
import { LedgerEntryRecord } from "../../money/wallet/ledger.ts";
import { amountOf } from "../../money/wallet/money.ts";
import { readWallet, type WalletRecord } from "../../money/wallet/record.ts";
import { dayMs, dayOf, minuteMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { ledgerSortKey } from "../../platform/table/keys.ts";
import { readPage, readWantedPage } from "../../platform/table/page.ts";
import { findItem } from "../../platform/table/read.ts";
import { undefinedIfUnreadable } from "../../platform/table/records.ts";
import { ledgerKey, ledgerOf } from "../../platform/table/shards.ts";

/*
 * The ledger as customers see it. Entries are in the order of their seqs. Their times have almost the same order. A message's
 * entry has the time of its acceptance, and clocks differ. A void entry is written long after its seq was debited.
 */

/** The longest time by which an entry can be older than one before it. Functions run for half a minute at most. */
const maxDisorderMs = minuteMs;

/** The longest time from a debit to its void entry. The reconciler needs minutes, or longer after an outage. */
const maxVoidDelayMs = dayMs;

/**
 * Returns a page of an organization's ledger, newest first.
 * @throws ApiError WALLET_MISSING; VALIDATION_ERROR for a period that ends before it begins
 */
export async function listTransactions(
  organizationId: string,
  query: TransactionsQuery,
): Promise<Page<Transaction>> {
  const { from, to } = query;
  if (from !== undefined && to !== undefined && to < from) {
    throw invalidField("to", "must not be before `from`");
  }
  const wallet = await readWallet(organizationId);
  const { rows, meta } = await readEntries(wallet, query);
  const messages = await readMessages(wallet, [...new Set(rows.flatMap(({ messageId }) => messageId ?? []))]);
  return { rows: rows.map((entry) => toApiTransaction(entry, messages.get(entry.messageId ?? ""))), meta };
}

async function readEntries(wallet: WalletRecord, query: TransactionsQuery): Promise<Page<LedgerEntryRecord>> {
  const { type, from, to, cursor } = query;
  const list = { pk: ledgerOf(wallet), newestFirst: true };
  // The wallet's seq is the number of its entries.
  if (type === undefined && from === undefined && to === undefined) {
    return readPage(LedgerEntryRecord, list, query, wallet.seq);
  }
  // A cursor is in the period already.
  const last = to === undefined || cursor !== undefined ? undefined : await lastSeqUntil(wallet, to);
  const oldest = from === undefined ? "" : new Date(Date.parse(from) - maxVoidDelayMs).toISOString();
  return readWantedPage(
    LedgerEntryRecord,
    { ...list, ...(last === undefined ? {} : { to: ledgerSortKey(last) }) },
    query,
    (entry) =>
      (type === undefined || entry.type === type) &&
      (from === undefined || dayOf(entry.createdAt) >= from) &&
      (to === undefined || dayOf(entry.createdAt) <= to),
    { isPast: (entry) => entry.createdAt < oldest },
  );
}

/** Returns a seq after which all entries are of later days. It reads one entry for each bit of the wallet's seq. */
async function lastSeqUntil(wallet: WalletRecord, day: string): Promise<number> {
  const later = new Date(Date.parse(day) + dayMs + maxDisorderMs).toISOString();
  let low = 0;
  let high = wallet.seq;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const found = await findItem(LedgerEntryRecord, ledgerKey(wallet, middle)).catch(undefinedIfUnreadable);
    // Without a known time, the entries after it are searched, which is correct for any entry.
    if (found !== undefined && found.type !== "void" && found.createdAt > later) high = middle - 1;
    else low = middle;
  }
  return high;
}

/** @param message the message that it belongs to; undefined if it no longer exists */
function toApiTransaction(
  entry: LedgerEntryRecord,
  message: MessageRecord | "unreadable" | undefined,
): Transaction {
  const isShown = typeof message === "object" && !hasExpired(message) && message.to !== redactedText;
  return {
    id: entry.id,
    type: entry.type,
    amount: amountOf(entry.amountMicros),
    balanceAfter: amountOf(entry.balanceAfterMicros),
    currency: config.currency(),
    messageId: entry.messageId,
    to: isShown ? message.to : undefined,
    country: entry.country,
    segments: entry.segments,
    campaignId: entry.campaignId,
    verificationId: entry.verificationId,
    paymentId: entry.paymentId,
    reason: entry.reason,
    reference: entry.reference,
    createdAt: entry.createdAt,
  };
}
