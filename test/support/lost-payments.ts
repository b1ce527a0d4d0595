import { expect } from "vitest";

import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { findDifferences } from "../../shared/money/payments/compare.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs } from "../../shared/platform/clock.ts";

/** The differences between the provider and the table, by the payments at the provider. */
export async function differences(): Promise<Record<string, string>> {
  const found = await findDifferences(new Date(Date.now() - dayMs));
  return Object.fromEntries(
    found.map(({ providerPaymentId = "", difference }) => [providerPaymentId, difference]),
  );
}

/** The balance of a wallet whose ledger adds up. */
export async function balanceOf(organizationId: string): Promise<number> {
  expect(await verifyWallet(organizationId)).toMatchObject({ findings: [] });
  return (await readWallet(organizationId)).balanceMicros;
}
