import { expect, it, vi } from "vitest";

import { DashboardStats } from "../../shared/api/contract/dashboard.ts";
import { Customer, dataOf } from "../support/api.ts";
import { patience } from "../support/patience.ts";

async function stats(customer: Customer): Promise<DashboardStats> {
  return dataOf(await customer.call("/v1/dashboard/stats"), DashboardStats);
}

const nothing = {
  accepted: 0,
  queued: 0,
  sent: 0,
  failed: 0,
  cancelled: 0,
  deliveryRate: null,
  delivered: 0,
  undelivered: 0,
  receiptRate: null,
  spend: 0,
};

it("a new customer has 30 days without a message, today first", async () => {
  const customer = await Customer.register({ balance: 3 });
  const { balance, today, last30Days, days } = await stats(customer);
  expect(balance).toBe(3);
  expect(last30Days).toEqual(nothing);
  expect(today).toEqual({ date: new Date().toISOString().slice(0, 10), ...nothing });
  expect(days[0]).toEqual(today);
  expect(days.map(({ date }) => date)).toEqual(
    days.map((_, ago) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)),
  );
});

it("messages are counted by their state, with their cost after refunds", async () => {
  const customer = await Customer.register({ balance: 1 });
  await Promise.all([
    customer.send(),
    customer.send(),
    customer.send(),
    customer.send({ to: "15005550001" }),
  ]);
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
  await customer.send({ scheduledAt });
  const { id } = await customer.send({ scheduledAt });
  await customer.call(`/v1/sms/${id}`, { method: "DELETE" });

  const expected = { accepted: 6, queued: 1, sent: 3, failed: 1, cancelled: 1, deliveryRate: 0.75 };
  await vi.waitFor(async () => expect((await stats(customer)).today).toMatchObject(expected), patience);
  const { today, last30Days } = await stats(customer);
  expect(today.spend).toBe(0.0316);
  expect(last30Days).toMatchObject({ ...expected, spend: 0.0316 });
  await vi.waitFor(async () => expect((await stats(customer)).balance).toBe(0.9684), patience);
});
