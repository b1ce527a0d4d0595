import { beforeEach, expect, it, vi } from "vitest";

import { listTransactions } from "../../shared/figures/statements/transactions.ts";
import { moneyText } from "../../shared/money/wallet/money.ts";
import { readWallet, toApiWallet } from "../../shared/money/wallet/record.ts";
import { topUpWallet } from "../../shared/money/wallet/top-up.ts";
import { updateWallet } from "../../shared/money/wallet/update.ts";
import { lowBalanceText, spendCapReachedText } from "../../shared/notices/emails/texts.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { openWallet } from "../support/wallets.ts";

/*
 * The amounts of a stage are in its currency, and yen have no decimals.
 */

let organizationId: string;

beforeEach(async () => {
  vi.stubEnv(environmentNames.currency, "JPY");
  organizationId = await openWallet(0);
});

function invalid(path: string): unknown {
  return expect.objectContaining({
    code: "VALIDATION_ERROR",
    details: [{ path, message: "must have at most 0 decimals" }],
  });
}

it("a part of the smallest unit is rejected as a top-up and as a limit, and changes nothing", async () => {
  const before = await readWallet(organizationId);
  await expect(topUpWallet(organizationId, { amount: 10.5 })).rejects.toEqual(invalid("amount"));
  for (const field of ["dailySpendCap", "lowBalanceThreshold"]) {
    const request = { dailySpendCap: 10, lowBalanceThreshold: 10, [field]: 10.5 };
    await expect(updateWallet(organizationId, request)).rejects.toEqual(invalid(field));
  }
  expect(await readWallet(organizationId)).toEqual(before);

  vi.stubEnv(environmentNames.currency, "EUR");
  expect(await topUpWallet(organizationId, { amount: 10.5 })).toMatchObject({
    balance: 10.5,
    currency: "EUR",
  });
});

it("balances, ledgers, texts for the operator and emails have the currency", async () => {
  expect(await topUpWallet(organizationId, { amount: 1_000 })).toMatchObject({
    balance: 1_000,
    currency: "JPY",
  });
  const limits = { dailySpendCap: 500, lowBalanceThreshold: null };
  expect(await updateWallet(organizationId, limits)).toMatchObject({ dailySpendCap: 500, currency: "JPY" });
  const wallet = await readWallet(organizationId);
  expect(toApiWallet(wallet)).toMatchObject({ balance: 1_000, currency: "JPY" });
  const { rows } = await listTransactions(organizationId, { page: 1, limit: 20 });
  expect(rows).toMatchObject([{ amount: 1_000, currency: "JPY" }]);
  expect(moneyText(wallet.balanceMicros)).toBe("1000.000000 JPY");
  const low = lowBalanceText("Ada", { balance: 999.5, lowBalanceThreshold: 1_000 });
  expect(low.paragraphs[0]).toContain("is ¥999.5, below your threshold of ¥1,000.");
  const reached = spendCapReachedText("Ada", { dailySpendCap: 500, resetsAt: "2030-01-01T00:00:00.000Z" });
  expect(reached.paragraphs[0]).toContain("spend cap of ¥500.");
});
