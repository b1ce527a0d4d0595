import { vi } from "vitest";

import { runClosing } from "../../shared/figures/books/close.ts";
import { findClosing, problemOf, startClosing } from "../../shared/figures/books/closing.ts";
import { findBooksTotal, type BooksTotal } from "../../shared/figures/books/record.ts";
import { closeDays } from "../../shared/figures/dashboard/close-days.ts";
import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { ledgerEntry, readLedger, type LedgerEntryRecord } from "../../shared/money/wallet/ledger.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { RejectedError } from "../../shared/platform/rejected-error.ts";
import { putItem } from "../../shared/platform/table/write.ts";
import { inAllShards } from "./shards.ts";

/** A message that was charged without the rest of its life. */
export interface ChargedMessage {
  readonly amountMicros: number;
  readonly country?: string;
  readonly segments?: number;
  /** In ISO 8601. */
  readonly at: string;
  /** Whether its function died before the entry was written. */
  readonly isLost?: boolean;
}

/** Debits a wallet and writes the entries, as a send does. */
export async function chargeMessages(
  organizationId: string,
  { at: moment, isLost = false, ...charge }: ChargedMessage,
): Promise<void> {
  const { entries } = await debitWallet({
    organizationId,
    charges: [charge],
    at: new Date(moment),
    keepAccepted: async () => undefined,
  });
  if (isLost) return;
  for (const entry of entries) await putItem(ledgerEntry({ ...entry, messageId: `msg_${entry.seq}` }));
}

/** The operator who closes the books. */
export const closing = { closedBy: "Ada" };

/**
 * Closes a month in the runs of the function.
 * @param remainingTimeMs the time that each run has left
 * @throws RejectedError with the problem of a failed closing
 */
export async function closeBooks(
  month: string,
  request: Parameters<typeof startClosing>[1],
  remainingTimeMs = () => 60_000,
): Promise<BooksTotal> {
  const job = await startClosing(month, request);
  for (;;) {
    await runClosing(job, remainingTimeMs);
    const found = await findClosing(month);
    if (found?.status === "failed") throw new RejectedError(problemOf(found));
    const total = await findBooksTotal(month);
    if (found?.status === "closed" && total !== undefined) return total;
  }
}

/** Sets the time, in ISO 8601. */
export function at(moment: string): void {
  vi.setSystemTime(new Date(moment));
}

/** Moves money of a wallet, by default now. */
export async function post(
  organizationId: string,
  type: Parameters<typeof postToWallet>[0]["type"],
  amountMicros: number,
  moment?: string,
): Promise<void> {
  if (moment !== undefined) at(moment);
  await postToWallet({ organizationId, type, amountMicros });
}

/** Settles the wallets and counts the days at a moment, as the workers do. */
export async function settleAll(moment: string, organizations: readonly string[]): Promise<void> {
  at(moment);
  for (const each of organizations) await settle(each);
  await inAllShards(closeDays);
}

/** Closes a month after the workers have done their work. */
export async function close(
  month: string,
  organizations: readonly string[],
  moment: string,
): ReturnType<typeof closeBooks> {
  await settleAll(moment, organizations);
  return closeBooks(month, closing);
}

/** All readable entries of a wallet's ledger. */
export async function ledger(organizationId: string): Promise<LedgerEntryRecord[]> {
  const wallet = await readWallet(organizationId);
  return readLedger(wallet, { from: 1, to: wallet.seq, limit: wallet.seq }, { skipsUnreadable: true });
}

/** Runs the reconciler on a wallet until it is settled. The time must be past its grace period. */
export async function settle(organizationId: string): Promise<void> {
  // It reports that the entries have no messages.
  const output = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  for (let pass = 0; pass < 10; pass += 1) await reconcileWallet(organizationId);
  output.mockRestore();
}
