import { beforeAll, describe, expect, it } from "vitest";
import * as z from "zod/mini";

import { Wallet } from "../../shared/api/contract/wallet.ts";
import { call, Customer, errorOf, invalidFields } from "../support/api.ts";
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

describe("a top-up that is rejected", () => {
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

it("a cap and a threshold are set, kept by other changes, and removed", async () => {
  const customer = await Customer.register({ balance: 2 });
  const patch = async (json: unknown) => customer.call("/v1/wallet", { method: "PATCH", json });
  expect((await patch({ dailySpendCap: 0.01 })).body).toMatchObject({
    data: { balance: 2, spentToday: 0, dailySpendCap: 0.01 },
  });
  expect((await patch({ lowBalanceThreshold: 1.5 })).status).toBe(200);
  const { pricing } = await customer.send();
  const rejected = await customer.trySend();
  expect(errorOf(rejected)).toEqual({ status: 402, code: "DAILY_SPEND_CAP_REACHED" });
  const untilTomorrow = Number(rejected.headers.get("Retry-After"));
  expect(untilTomorrow).toBeGreaterThan(0);
  expect(untilTomorrow).toBeLessThanOrEqual(24 * 60 * 60);
  expect((await customer.call("/v1/wallet")).body).toMatchObject({
    data: { spentToday: pricing.total, dailySpendCap: 0.01, lowBalanceThreshold: 1.5 },
  });
  expect((await patch({})).body).toMatchObject({ data: { dailySpendCap: 0.01 } });
  const { data } = z.object({ data: Wallet }).parse((await patch({ dailySpendCap: null })).body);
  expect(data).not.toHaveProperty("dailySpendCap");
  expect(data).toHaveProperty("lowBalanceThreshold", 1.5);
  expect((await customer.trySend()).status).toBe(202);
});

it("all sending is paused and resumed, for a person and each API key", async () => {
  const customer = await Customer.register({ balance: 1 });
  const paused = await customer.client.updateWallet({ body: { sendingPaused: true } });
  expect(paused.sendingPausedAt).toBeDefined();
  const { secret } = await customer.createApiKey();
  for (const credential of [customer.token, secret]) {
    const json = { to: "15005550000", message: "hi", senderId: "ACME" };
    const rejected = await call("/v1/sms/send", { credential, json });
    expect(errorOf(rejected)).toEqual({ status: 403, code: "SENDING_PAUSED" });
  }
  expect(await customer.client.updateWallet({ body: { sendingPaused: true } })).toEqual(paused);
  const byKey = { method: "PATCH", json: { sendingPaused: false }, credential: secret };
  expect(errorOf(await customer.call("/v1/wallet", byKey))).toEqual({
    status: 403,
    code: "INSUFFICIENT_SCOPE",
  });
  const { sendingPausedAt: _, ...resumed } = paused;
  expect(await customer.client.updateWallet({ body: { sendingPaused: false } })).toEqual(resumed);
  expect((await customer.trySend()).status).toBe(202);
});

it("transactions are listed newest first with their purpose", async () => {
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

it("transactions have the number of their message, and are filtered by type and day", async () => {
  const customer = await Customer.register({ balance: 2 });
  const { id } = await customer.send({ to: "447400123456" });
  const [today = "", tomorrow = ""] = [0, 86_400_000].map((later) =>
    new Date(Date.now() + later).toISOString().slice(0, 10),
  );
  const list = async (query: string) => (await customer.call(`/v1/wallet/transactions?${query}`)).body;
  const message = { type: "message", messageId: id, to: "447400123456", country: "GB", segments: 1 };
  expect(await list("type=message")).toMatchObject({ data: [message], meta: { total: 1 } });
  expect(await list(`from=${today}&to=${tomorrow}`)).toMatchObject({ data: [message, { type: "top_up" }] });
  expect(await list(`from=${tomorrow}`)).toMatchObject({ data: [], meta: { total: 0 } });
  expect(await list("to=2024-02-29")).toMatchObject({ data: [], meta: { total: 0 } });
  const backwards = await customer.call("/v1/wallet/transactions?from=2025-02-02&to=2025-02-01");
  expect(errorOf(backwards)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
  expect(invalidFields(backwards)).toEqual(["to"]);
});
