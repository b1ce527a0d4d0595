import { expect, it, vi } from "vitest";

import { Usage } from "../../shared/api/contract/usage.ts";
import { call, Customer, dataOf, errorOf, invalidFields } from "../support/api.ts";
import { patience } from "../support/patience.ts";

async function usage(customer: Customer, query = ""): Promise<Usage> {
  return dataOf(await customer.call(`/v1/usage${query}`), Usage);
}

it("the present month has the day's messages and their cost after refunds", async () => {
  const customer = await Customer.register({ balance: 1 });
  const before = await usage(customer);
  const today = new Date().toISOString().slice(0, 10);
  const month = today.slice(0, 7);
  expect(before).toMatchObject({ month, by: "day", currency: "USD", rows: [], total: { amount: 0 } });
  await Promise.all([customer.send(), customer.send(), customer.send({ to: "15005550001" })]);
  const counted = { messages: 2, amount: 0.0158, refunded: 0.0079 };
  await vi.waitFor(async () => expect((await usage(customer)).total).toEqual(counted), patience);
  const { rows, isFinal } = await usage(customer, `?month=${month}&by=day`);
  expect([rows, isFinal]).toEqual([[{ name: today, ...counted }], false]);
  expect(await usage(customer, `?day=${today}&by=country`)).toMatchObject({
    day: today,
    total: { ...counted, segments: 2 },
    rows: [{ name: "US", ...counted, segments: 2 }],
    missingDays: [],
  });
  expect((await customer.client.getDashboardStats()).today.spend).toBe(counted.amount);
});

it("the present day has its messages by key, campaign and sender, and no test messages", async () => {
  const customer = await Customer.register({ balance: 1 });
  const { id, secret } = await customer.client.createApiKey({ body: { name: "server" } });
  const json = { to: "447400123456", message: "hello", senderId: "SHOP" };
  expect((await call("/v1/sms/send", { credential: secret, json })).status).toBe(202);
  await customer.send();
  await customer.send({ test: true });
  const rowsBy = async (by: string) =>
    (await usage(customer, `?by=${by}`)).rows.map(({ name, label, messages }) => [name, label, messages]);
  expect(await rowsBy("key")).toEqual([
    [id, "server", 1],
    ["none", undefined, 1],
  ]);
  expect(await rowsBy("campaign")).toEqual([["none", undefined, 2]]);
  expect((await rowsBy("sender")).map(([name]) => name)).toEqual(["SHOP", "ACME"]);
});

it.each([
  ["?day=2024-02-30", "day"],
  ["?day=2024-02-01&month=2024-03", "day"],
  ["?by=hour", "by"],
])("rejects %s", async (query, field) => {
  const response = await (await Customer.register()).call(`/v1/usage${query}`);
  expect(errorOf(response)).toEqual({ status: 400, code: "VALIDATION_ERROR" });
  expect(invalidFields(response)).toEqual([field]);
});

it("a month without messages is empty and final, also long ago", async () => {
  const customer = await Customer.register();
  for (const by of ["day", "country", "campaign", "key", "sender"]) {
    const total = { messages: 0, segments: 0, amount: 0, refunded: 0 };
    expect(await usage(customer, `?month=2024-02&by=${by}`)).toMatchObject({
      isFinal: true,
      rows: [],
      total,
    });
  }
});
