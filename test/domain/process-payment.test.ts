import { beforeEach, expect, it, vi } from "vitest";

import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { newPayment } from "../../shared/money/payments/create.ts";
import { getPayment } from "../../shared/money/payments/get.ts";
import { processPayment } from "../../shared/money/payments/process.ts";
import {
  unpaid,
  type ProviderDispute,
  type ProviderPayment,
  type ProviderRefund,
} from "../../shared/money/payments/provider.ts";
import {
  paymentPut,
  readPayment,
  type PaymentKey,
  type PaymentRecord,
} from "../../shared/money/payments/record.ts";
import { recordRefund } from "../../shared/money/payments/refund.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { minorUnitsOf } from "../../shared/money/wallet/money.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { updateOf } from "../../shared/platform/table/write.ts";
import { recordLog } from "../support/log.ts";
import { setPayments } from "../support/stored-payments.ts";
import { openWallet } from "../support/wallets.ts";

beforeEach(() => {
  setPayments();
});

/** Records a payment at a checkout of a new organization. */
async function openPayment(fields: Partial<PaymentRecord> = {}): Promise<PaymentRecord> {
  const organizationId = await openWallet(0);
  const billing = await readBilling(organizationId);
  const payment = {
    ...newPayment({ organizationId, billing, method: "card", origin: "checkout", amountMicros: 50_000_000 }),
    providerSessionId: "cs_1",
    ...fields,
  };
  await transact({ payment: paymentPut(payment) });
  return payment;
}

function keyOf({ organizationId, id: paymentId }: PaymentRecord): PaymentKey {
  return { organizationId, paymentId };
}

/** Lets the provider report a payment as paid, with the given differences. */
function pay(payment: PaymentRecord, fields: Partial<ProviderPayment> = {}): void {
  vi.spyOn(stripeProvider, "read").mockResolvedValue({
    status: "succeeded",
    id: `pi_${payment.id}`,
    minorUnits: minorUnitsOf(payment.totalMicros),
    currency: payment.currency,
    feeMinorUnits: 175,
    refunds: [],
    disputes: [],
    ...fields,
  });
}

async function balanceOf({ organizationId }: PaymentRecord): Promise<number> {
  return (await readWallet(organizationId)).balanceMicros;
}

it.each([
  ["currency", { currency: "JPY" }],
  ["total", { minorUnits: 4_999 }],
])("a payment with another %s than agreed is not credited, and is reported", async (_, fields) => {
  const payment = await openPayment();
  pay(payment, fields);
  const log = recordLog();
  expect(await processPayment(keyOf(payment))).toMatchObject({ status: "pending" });
  expect(log.of("payment.amount_differs")).toHaveLength(1);
  expect(await balanceOf(payment)).toBe(0);
});

it("a refund that succeeded does not become pending again by an older state", async () => {
  const payment = await openPayment();
  const refund: ProviderRefund = { id: "re_late", minorUnits: 1_000, status: "succeeded" };
  pay(payment, { refunds: [refund] });
  expect((await processPayment(keyOf(payment)))?.refunds).toMatchObject([{ status: "succeeded" }]);
  pay(payment, { refunds: [{ ...refund, status: "pending" }] });
  const processed = await processPayment(keyOf(payment));
  expect(processed?.refunds).toMatchObject([{ id: "re_late", status: "succeeded" }]);
  expect(await balanceOf(payment)).toBe(40_000_000);
});

it("a refund that takes the place of one that the provider rejects takes the whole rest, and no more", async () => {
  const payment = await openPayment({ amountMicros: 18_830_000, totalMicros: 22_410_000 });
  pay(payment);
  await processPayment(keyOf(payment));
  await recordRefund(keyOf(payment), { id: `rfd_${payment.id}`, amountMicros: 360_000, reason: "Too much" });
  const refunds = [804, 597, 840].map((minorUnits, index): ProviderRefund => ({
    id: `re_${index}`,
    minorUnits,
    status: "succeeded",
  }));
  pay(payment, { refunds });
  // The provider has nothing left for the refund of the gateway.
  vi.spyOn(stripeProvider, "refund").mockImplementation(async ({ id }, refundId, minorUnits) => ({
    id: `${id}-rejected`,
    refundId,
    minorUnits,
    status: "failed",
  }));
  await processPayment(keyOf(payment));
  expect(await balanceOf(payment)).toBe(0);
});

it("a dispute that is won by an appeal returns the money once, and no late state takes it again", async () => {
  const payment = await openPayment();
  const balances: number[] = [];
  for (const status of ["open", "lost", "open", "won", "lost", "won"] as const) {
    const dispute: ProviderDispute = { id: `dp_${payment.id}`, minorUnits: 5_000, feeMinorUnits: 0, status };
    pay(payment, { disputes: [dispute] });
    await processPayment(keyOf(payment));
    balances.push((await balanceOf(payment)) / 1e6);
  }
  expect(balances).toEqual([0, 0, 0, 50, 50, 50]);
});

it("a status that this release does not know is reported, and does not keep the payment from being final", async () => {
  const payment = await openPayment();
  pay(payment, { unknown: ["dp_1: mediated"] });
  const log = recordLog();
  await processPayment(keyOf(payment));
  expect(log.text()).toMatch(/payment\.status_unknown.*dp_1: mediated/);
  expect((await readPayment(keyOf(payment))).pendingWork).toBeUndefined();
});

it("a payment that cannot be processed is visited again after minutes, and not each minute", async () => {
  const payment = await openPayment();
  vi.spyOn(stripeProvider, "read").mockRejectedValue(new Error("down"));
  for (const hours of [0.1, 30]) {
    const at = Date.parse(payment.createdAt) + hours * 3_600_000;
    vi.setSystemTime(at);
    await expect(processPayment(keyOf(payment))).rejects.toThrow("down");
    vi.useRealTimers();
    const { visitAt = "" } = await readPayment(keyOf(payment));
    expect(Date.parse(visitAt) - at).toBeGreaterThan(minuteMs);
    expect(Date.parse(visitAt) - at).toBeLessThan(5 * minuteMs);
  }
});

it("a refund that is recorded while another one is submitted is submitted too, not at the next visit", async () => {
  const payment = await openPayment();
  const key = keyOf(payment);
  const refunds: ProviderRefund[] = [];
  const paid: Omit<ProviderPayment, "refunds"> = {
    status: "succeeded",
    id: `pi_${payment.id}`,
    minorUnits: minorUnitsOf(payment.totalMicros),
    currency: payment.currency,
    disputes: [],
  };
  vi.spyOn(stripeProvider, "read").mockImplementation(async () => ({ ...paid, refunds }));
  vi.spyOn(stripeProvider, "refund").mockImplementation(async (_, refundId, minorUnits) => {
    if (refundId === "rfd_1")
      await recordRefund(key, { id: "rfd_2", amountMicros: 20_000_000, reason: "Second" });
    const refund = { id: `re_${refundId}`, refundId, minorUnits, status: "succeeded" } as const;
    refunds.push(refund);
    return refund;
  });

  await processPayment(key);
  await recordRefund(key, { id: "rfd_1", amountMicros: 10_000_000, reason: "First" });
  const processed = await processPayment(key);
  expect(processed?.refunds).toMatchObject([
    { id: "rfd_1", status: "succeeded", providerRefundId: "re_rfd_1" },
    { id: "rfd_2", status: "succeeded", providerRefundId: "re_rfd_2" },
  ]);
});

const taxed = { amountMicros: 100_000, taxMicros: 20_000, totalMicros: 120_000, taxRate: 20 };

it("the refunds of a payment are never without a total, however they are rounded", async () => {
  const payment = await openPayment(taxed);
  pay(payment);
  await processPayment(keyOf(payment));
  for (const [id, amountMicros] of [["1", 30_000], ["2", 30_000], ["3", 30_000], ["4"]] as const)
    await recordRefund(keyOf(payment), { id: `rfd_part_${id}`, amountMicros, reason: "Part" });
  const { refunds } = await readPayment(keyOf(payment));
  expect(refunds.map(({ totalMicros }) => totalMicros)).toEqual([40_000, 40_000, 30_000, 10_000]);
  expect(await balanceOf(payment)).toBe(0);
});

it("a refund without a total, as earlier releases stored it, ends without the provider, and has no successor", async () => {
  const payment = await openPayment(taxed);
  pay(payment);
  await processPayment(keyOf(payment));
  const refund = vi.spyOn(stripeProvider, "refund");
  const part = { reason: "Part", createdAt: payment.createdAt };
  const refunds = [
    { ...part, id: "rfd_1", amountMicros: 80_000, totalMicros: 120_000, status: "succeeded" },
    { ...part, id: "rfd_2", amountMicros: 10_000, totalMicros: 0, status: "pending" },
  ] as const;
  const key = keys.payment(payment.organizationId, payment.id);
  await transact({ payment: updateOf(key, { set: { refunds: [...refunds] } }) });
  const processed = await processPayment(keyOf(payment));
  expect(processed?.refunds).toMatchObject([{ status: "succeeded" }, { status: "succeeded" }]);
  expect(refund).not.toHaveBeenCalled();
  await expect(recordRefund(keyOf(payment), { id: "rfd_3", reason: "Rest" })).rejects.toThrow(
    "The whole total was refunded before.",
  );
  expect(await balanceOf(payment)).toBe(100_000);
});

it("a pending payment is read at the provider at most 120 times a minute, and shown as stored beyond it", async () => {
  const payment = await openPayment();
  const state: ProviderPayment = { ...unpaid, status: "pending", currency: payment.currency };
  const read = vi.spyOn(stripeProvider, "read").mockResolvedValue(state);
  for (let reads = 0; reads < 120; reads += 1) await getPayment(keyOf(payment));
  expect(read).toHaveBeenCalledTimes(120);
  expect(await getPayment(keyOf(payment))).toMatchObject({ id: payment.id, status: "pending" });
  expect(read).toHaveBeenCalledTimes(120);
  // Other organizations are not affected.
  await getPayment(keyOf(await openPayment()));
  expect(read).toHaveBeenCalledTimes(121);
});
