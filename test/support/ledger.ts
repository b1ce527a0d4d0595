import { expect } from "vitest";

import { Message } from "../../shared/api/contract/sms.ts";
import type { Transaction } from "../../shared/api/contract/wallet.ts";
import { verifyWallet } from "../../shared/messages/reconciliation/verify.ts";
import { pageOf, type Customer } from "./api.ts";

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

/** Expects the balance to be a top-up of 1, less the messages that were accepted at the price of the sandbox and not refunded. */
export async function expectPaidMessages(customer: Customer, count: number): Promise<void> {
  const audit = await verifyWallet(customer.organizationId);
  expect(audit).toMatchObject({ findings: [], pending: [], balanceMicros: 1_000_000 - count * 7_900 });
  expect(pageOf(await customer.call("/v1/sms"), Message).meta.total).toBe(count);
}
