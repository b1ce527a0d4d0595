import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { readBilling } from "../../shared/payments/billing-record.ts";
import { newPayment } from "../../shared/payments/create.ts";
import { getPayment } from "../../shared/payments/get.ts";
import { processPayment } from "../../shared/payments/process.ts";
import { unpaid, type ProviderPayment, type ProviderRefund } from "../../shared/payments/provider.ts";
import { paymentPut, type PaymentKey, type PaymentRecord } from "../../shared/payments/record.ts";
import { recordRefund } from "../../shared/payments/refund.ts";
import { stripeProvider } from "../../shared/payments/stripe.ts";
import { config } from "../../shared/platform/config.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { minorUnitsOf } from "../../shared/wallet/money.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { openWallet } from "../support/wallets.ts";

await useOwnTable();

beforeEach(() => {
  vi.spyOn(config, "payments").mockReturnValue('{"cards":"sandbox"}');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await takeJobs("emails");
});

/** Records a payment at a checkout of a new organization. */
async function openPayment(): Promise<PaymentRecord> {
  const organizationId = await openWallet(0);
  const billing = await readBilling(organizationId);
  const payment = {
    ...newPayment({ organizationId, billing, method: "card", origin: "checkout", amountMicros: 50_000_000 }),
    providerSessionId: "cs_1",
  };
  await transact({ payment: paymentPut(payment) });
  return payment;
}

function keyOf({ organizationId, id: paymentId }: PaymentRecord): PaymentKey {
  return { organizationId, paymentId };
}

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
