import * as z from "zod/mini";

import { readLedger, type LedgerEntryRecord } from "../../shared/wallet/ledger.ts";
import { moneyText } from "../../shared/wallet/money.ts";
import type { WalletRecord } from "../../shared/wallet/record.ts";
import { count, part } from "./command.ts";
import type { Column } from "./output.ts";

/*
 * How wallets and their ledgers are shown, in all commands that show one.
 */

export const ledgerColumns: readonly Column<LedgerEntryRecord>[] = [
  { heading: "SEQ", text: ({ seq }) => String(seq), isNumber: true },
  { heading: "AT", text: ({ createdAt }) => createdAt },
  { heading: "TYPE", text: ({ type }) => type },
  { heading: "AMOUNT", text: ({ amountMicros }) => moneyText(amountMicros), isNumber: true },
  {
    heading: "BALANCE AFTER",
    text: ({ balanceAfterMicros }) => moneyText(balanceAfterMicros),
    isNumber: true,
  },
  { heading: "FOR", text: ({ messageId, reason }) => messageId ?? reason ?? "" },
  { heading: "REFERENCE", text: ({ reference }) => reference ?? "" },
];

export const LedgerLimit = part(
  "--limit <number>",
  "so many of the newest ledger entries, 20 unless told, 1000 at the most",
  z._default(count(1_000), 20),
);

/** The newest entries of a wallet's ledger, newest first. */
export async function readNewestEntries(wallet: WalletRecord, limit: number): Promise<LedgerEntryRecord[]> {
  const { seq } = wallet;
  const entries = await readLedger(wallet, { from: Math.max(1, seq - limit + 1), to: seq, limit });
  return entries.toReversed();
}

/** The balance of a wallet, and whether it can be used. */
export function walletText({ balanceMicros, closedAt, closedReason }: WalletRecord): string {
  const state = closedAt === undefined ? "open" : `closed since ${closedAt} (${closedReason ?? "no reason"})`;
  return `${moneyText(balanceMicros)}, ${state}`;
}
