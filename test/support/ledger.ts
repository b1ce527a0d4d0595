import { expect } from "vitest";

import type { Transaction } from "../../shared/api/contract/wallet.ts";
import type { Customer } from "./api.ts";

/** Expects each balance to follow from the one before, and the last to be the wallet's. @returns the entries, oldest first */
export async function expectLedgerToAddUp(customer: Customer): Promise<Transaction[]> {
  const ledger = await customer.ledger();
  let balanceMicros = 0;
  for (const { amount, balanceAfter } of ledger) {
    balanceMicros += Math.round(amount * 1e6);
    expect(balanceAfter).toBe(balanceMicros / 1e6);
  }
  expect(await customer.balance()).toBe(balanceMicros / 1e6);
  return ledger;
}
