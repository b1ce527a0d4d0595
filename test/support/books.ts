import { vi } from "vitest";

import { reconcileWallet } from "../../shared/messages/reconciliation/reconcile.ts";
import { debitWallet } from "../../shared/money/wallet/debit.ts";
import { ledgerEntry } from "../../shared/money/wallet/ledger.ts";
import { putItem } from "../../shared/platform/table/write.ts";

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
  { at, isLost = false, ...charge }: ChargedMessage,
): Promise<void> {
  const { entries } = await debitWallet({
    organizationId,
    charges: [charge],
    at: new Date(at),
    keepAccepted: async () => undefined,
  });
  if (isLost) return;
  for (const entry of entries) await putItem(ledgerEntry({ ...entry, messageId: `msg_${entry.seq}` }));
}

/** Runs the reconciler on a wallet until it is settled. The time must be past its grace period. */
export async function settle(organizationId: string): Promise<void> {
  // It reports that the entries have no messages.
  const output = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  for (let pass = 0; pass < 10; pass += 1) await reconcileWallet(organizationId);
  output.mockRestore();
}
