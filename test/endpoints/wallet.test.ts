import { beforeAll, describe, expect, it } from "vitest";

import { Customer, errorOf, invalidFields } from "../support/api.ts";
import { expectLedgerToAddUp } from "../support/ledger.ts";

it("a top-up without an amount adds 10.00, with or without a body", async () => {
  const customer = await Customer.register();
  const responses = [
    await customer.call("/v1/wallet/top-up", { method: "POST" }),
    await customer.call("/v1/wallet/top-up", { json: {} }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 200]);
  expect(responses[1]?.body).toMatchObject({ data: { balance: 20, currency: "USD" } });
});

it.each([0.01, 12.34, 999_999.99, 1_000_000])("a top-up of %d is added to the cent", async (amount) => {
  const customer = await Customer.register();
  expect((await customer.topUp(amount)).balance).toBe(amount);
  expect((await customer.topUp(0.29)).balance).toBe(Math.round(amount * 100 + 29) / 100);
});

describe("a top-up that is refused", () => {
  let customer: Customer;
  beforeAll(async () => {
    customer = await Customer.register();
  });

  it.each([0, -5, "NaN", "10", 1e308, 0.1 + 0.2, 0.001, 1_000_000.01, null, [10], true])(
    "adds nothing: %j",
    async (amount) => {
      const response = await customer.call("/v1/wallet/top-up", { json: { amount } });
      expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
      expect(invalidFields(response)).toEqual(["amount"]);
      expect(await customer.balance()).toBe(0);
    },
  );
});

it("parallel top-ups and sends leave a ledger without a gap that adds up to the balance", async () => {
  const customer = await Customer.register({ balance: 1 });
  await Promise.all([
    ...Array.from({ length: 8 }, async () => customer.topUp(0.5)),
    ...Array.from({ length: 40 }, async () => customer.send()),
  ]);
  expect(await expectLedgerToAddUp(customer)).toHaveLength(49);
});

it("transactions are listed newest first with what they were for", async () => {
  const customer = await Customer.register({ balance: 2 });
  const { id, pricing } = await customer.send();
  const { body } = await customer.call("/v1/wallet/transactions?limit=1");
  expect(body).toMatchObject({
    data: [{ type: "message", amount: -pricing.total, balanceAfter: 2 - pricing.total, messageId: id }],
    meta: { page: 1, limit: 1, total: 2, totalPages: 2 },
  });
  expect((await customer.call("/v1/wallet/transactions?limit=1&page=2")).body).toMatchObject({
    data: [{ type: "top_up", amount: 2, balanceAfter: 2 }],
  });
});
