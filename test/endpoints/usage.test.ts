import { expect, it, vi } from "vitest";

import { Usage } from "../../shared/api/contract/usage.ts";
import { Customer, dataOf } from "../support/api.ts";
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
  expect(await usage(customer, "?by=country")).toMatchObject({ rows: [], missingDays: [today] });
});

it("a month without messages is empty and final, also long ago", async () => {
  const customer = await Customer.register();
  for (const by of ["day", "country", "campaign", "key"]) {
    const total = { messages: 0, segments: 0, amount: 0, refunded: 0 };
    expect(await usage(customer, `?month=2024-02&by=${by}`)).toMatchObject({
      isFinal: true,
      rows: [],
      total,
    });
  }
});
