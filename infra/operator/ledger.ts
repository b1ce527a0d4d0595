import { readLedger, type LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { moneyText } from "../../shared/money/wallet/money.ts";
import type { WalletRecord } from "../../shared/money/wallet/record.ts";
import { limit } from "./command.ts";
import { right, type Columns } from "./output.ts";

/*
 * How all commands show wallets and ledgers.
 */

export const ledgerColumns: Columns<LedgerEntryRecord> = {
  SEQ: "seq",
  TIME: "createdAt",
  TYPE: "type",
  AMOUNT: ({ amountMicros }) => right(moneyText(amountMicros)),
  BALANCE: ({ balanceAfterMicros: after }) => right(moneyText(after)),
  FOR: ({ messageId, reason }) => messageId ?? reason,
  REFERENCE: "reference",
};

export const LedgerLimit = limit(20, 1_000, "ledger entries");

/** The newest entries of a wallet's ledger, newest first. */
export async function readNewestEntries(wallet: WalletRecord, wanted: number): Promise<LedgerEntryRecord[]> {
  const { seq } = wallet;
  const from = Math.max(1, seq - wanted + 1);
  const entries = await readLedger(wallet, { from, to: seq, limit: wanted });
  return entries.toReversed();
}

/** A wallet's balance and state. */
export function walletText({ balanceMicros, closedAt, closedReason }: WalletRecord): string {
  const state = closedAt === undefined ? "open" : `closed since ${closedAt} (${closedReason ?? "no reason"})`;
  return `${moneyText(balanceMicros)}, ${state}`;
}
