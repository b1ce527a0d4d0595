import { beforeEach, expect, it, vi } from "vitest";

import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { comparePayments } from "../../shared/money/payments/compare.ts";
import { createPayment, newPayment } from "../../shared/money/payments/create.ts";
import type { PaymentJob } from "../../shared/money/payments/payment-job.ts";
import { unpaid, type ProviderPayment } from "../../shared/money/payments/provider.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { findPayment, paymentPut } from "../../shared/money/payments/record.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { visitPayments, workOnPayment } from "../../shared/money/payments/work.ts";
import { postToWallet } from "../../shared/money/wallet/post.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { pause, resume } from "../../shared/platform/jobs/pause.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { updateOf } from "../../shared/platform/table/write.ts";
import { advance } from "../support/clock.ts";
import { useOwnTable } from "../support/own-table.ts";
import { delayedJobs, takeJobs } from "../support/queues.ts";
import { inAllShards } from "../support/shards.ts";
import { haveSavedCards, paymentJobs, paymentsIn, setPayments } from "../support/stored-payments.ts";
import { openWallet } from "../support/wallets.ts";

beforeEach(async () => {
  await useOwnTable();
  setPayments({ cards: "sandbox", bankTransfer: "Pay to our account." });
  haveSavedCards();
});

/** The payments that the provider was requested to charge. */
function charged(): readonly string[] {
  const ids: string[] = [];
  vi.spyOn(stripeProvider, "charge").mockImplementation(async ({ payment }) => {
    ids.push(payment.id);
    const state: ProviderPayment = { ...unpaid, status: "pending", currency: payment.currency };
    return state;
  });
  return ids;
}

it("during a pause no payment begins, by card or by transfer", async () => {
  const organizationId = await openWallet(0);
  await pause("payments", "A restore");
  for (const request of [
    { method: "card" },
    { method: "card", paymentMethodId: "pm_1" },
    { method: "bank_transfer" },
  ] as const) {
    const attempt = createPayment(organizationId, { saveCard: false, amount: 20, ...request });
    await expect(attempt).rejects.toMatchObject({ code: "PAYMENT_PROVIDER_UNAVAILABLE" });
  }
  expect(await takeJobs("payments")).toEqual([]);
  await resume("payments");
  const request = { method: "bank_transfer", saveCard: false, amount: 20 } as const;
  expect(await createPayment(organizationId, request)).toMatchObject({ status: "pending" });
});

it("during a pause a payment and its jobs stay as they are, and no card is charged", async () => {
  const organizationId = await openWallet(0);
  const fields = { organizationId, method: "card", origin: "saved_card", amountMicros: 50_000_000 } as const;
  const billing = await readBilling(organizationId);
  const payment = { ...newPayment({ ...fields, billing, paymentMethodId: "pm_1" }), visitAt: "2020-01-01" };
  const customer = { entity: "billing", organizationId, customerId: "cus_1" };
  await transact({
    payment: paymentPut(payment),
    billing: updateOf(keys.billing(organizationId), { set: customer }),
  });
  const key = { organizationId, paymentId: payment.id };
  const charges = charged();
  await pause("payments", "A restore");
  const jobs: PaymentJob[] = [
    { kind: "payment", ...key },
    { kind: "recharge", ...key },
    { kind: "balance", organizationId },
    { kind: "notice", providerPaymentId: "pi_1" },
  ];
  for (const job of jobs) {
    const delayed = await delayedJobs(async () => workOnPayment(job));
    expect(delayed).toMatchObject([{ queueUrl: config.queueUrl("payments"), body: job, delaySeconds: 120 }]);
  }
  await inAllShards(visitPayments);
  expect(charges).toEqual([]);
  expect(await findPayment(key)).toEqual(payment);
  await resume("payments");
  await workOnPayment({ kind: "payment", ...key });
  expect(charges).toEqual([payment.id]);
});

it("a recharge that waited does not charge the card when another payment has come", async () => {
  const organizationId = await openWallet(1_000_000);
  await setAutoRecharge(organizationId, { isEnabled: true, threshold: 5, amount: 20, monthlyCap: 100 });
  const [job] = await paymentJobs();
  expect(job).toMatchObject({ kind: "recharge" });
  await postToWallet({ organizationId, type: "payment", amountMicros: 20_000_000 });
  const charges = charged();
  if (job !== undefined) await workOnPayment(job);
  expect(charges).toEqual([]);
  expect(await paymentsIn(organizationId)).toEqual([]);
  expect((await readWallet(organizationId)).rechargeId).toBeUndefined();
});

it("comparisons after a pause see the refunds and disputes that a restore may have lost", async () => {
  const days: number[] = [];
  vi.spyOn(stripeProvider, "paymentsSince").mockImplementation(async function* none() {});
  vi.spyOn(stripeProvider, "changesSince").mockImplementation(async function* foreign(since) {
    days.push(Math.round((Date.now() - since.getTime()) / dayMs));
    yield {};
  });
  await comparePayments();
  await pause("payments", "Restore");
  await resume("payments");
  await comparePayments();
  advance(8 * dayMs);
  await comparePayments();
  vi.useRealTimers();
  expect(days).toEqual([7, 42, 7]);
});
