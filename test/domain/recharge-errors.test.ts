import { beforeEach, expect, it, vi } from "vitest";

import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { PaymentJob } from "../../shared/money/payments/payment-job.ts";
import { processPayment } from "../../shared/money/payments/process.ts";
import { ProviderUnavailableError } from "../../shared/money/payments/provider.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { readPayment } from "../../shared/money/payments/record.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { workOnPayment } from "../../shared/money/payments/work.ts";
import { requestRecharge } from "../../shared/money/wallet/recharge.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { updateOf, deleteOf } from "../../shared/platform/table/write.ts";
import { chargesOf, loseNextResponse, openCustomer, setTime } from "../support/charges.ts";
import { connectStripe, stripe } from "../support/connected-stripe.ts";
import { takeJobs } from "../support/queues.ts";
import { paymentsIn, setPayments, workOnPayments } from "../support/stored-payments.ts";

/* Recharges while Stripe does not respond, has lost a customer, or its jobs get lost. */

vi.mock("../../shared/money/payments/stripe-client.ts", async () => import("../support/connected-stripe.ts"));

const settings = { isEnabled: true, threshold: 5, amount: 20, monthlyCap: 100 };

beforeEach(async () => {
  setPayments();
  await connectStripe();
});

it("a recharge whose customer Stripe does not have fails, and the next one may start", async () => {
  const { organizationId } = await openCustomer();
  await setAutoRecharge(organizationId, settings);
  await connectStripe();
  await workOnPayments();
  expect(await paymentsIn(organizationId)).toMatchObject([
    { status: "failed", failure: "no_payment_method" },
  ]);
  expect(await readBilling(organizationId)).toMatchObject({
    rechargeFailures: 1,
    rechargeFailure: "no_payment_method",
  });
  expect((await readWallet(organizationId)).rechargeId).toBeUndefined();
  expect(await takeJobs("emails")).toMatchObject([{ notice: { what: "rechargeFailed" } }]);
});

it("a recharge is a pending payment while Stripe does not respond, and is charged once after it", async () => {
  const { organizationId, customerId, card } = await openCustomer();
  await setAutoRecharge(organizationId, settings);
  const [job] = await takeJobs("payments");
  const outage = vi
    .spyOn(stripeProvider, "listMethods")
    .mockRejectedValue(new ProviderUnavailableError("down"));
  await expect(workOnPayment(PaymentJob.parse(job))).rejects.toThrow("down");
  const [payment, ...others] = await paymentsIn(organizationId);
  expect(others).toEqual([]);
  expect(payment).toMatchObject({ status: "pending", pendingWork: expect.stringMatching(/^PAYMENT#/) });
  outage.mockRestore();

  // The response to the charge is lost, and meanwhile the customer saves another card.
  loseNextResponse(stripe().client.paymentIntents);
  const key = { organizationId, paymentId: payment?.id ?? "" };
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  expect(await readPayment(key)).toMatchObject({ status: "pending", paymentMethodId: card });
  vi.spyOn(stripeProvider, "listMethods").mockRejectedValue(new Error("the card is chosen once"));
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  expect(await chargesOf(customerId)).toBe(1);
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 21_000_000 });
});

it("a recharge that a restore lost after it was charged is found by the wallet's note, and not charged again", async () => {
  const { organizationId, customerId } = await openCustomer();
  await setAutoRecharge(organizationId, settings);
  await workOnPayments();
  const [payment] = await paymentsIn(organizationId);
  const id = payment?.id ?? "";
  await transact({
    payment: deleteOf(keys.payment(organizationId, id)),
    wallet: updateOf(keys.wallet(organizationId), { set: { rechargeId: id, balanceMicros: 1_000_000 } }),
  });
  setTime(Date.now() + 30 * hourMs);
  await requestRecharge(await readWallet(organizationId));
  for (const job of await takeJobs("payments"))
    await workOnPayment(PaymentJob.parse(job)).catch(() => undefined);
  expect(await chargesOf(customerId)).toBe(1);
});

it("a recharge whose job was lost before its payment was stored is queued again after an hour, once", async () => {
  const { organizationId } = await openCustomer();
  await setAutoRecharge(organizationId, settings);
  const [lost] = await takeJobs("payments");
  const askAgain = async (): Promise<unknown[]> => {
    await Promise.all([1, 2].map(async () => requestRecharge(await readWallet(organizationId))));
    return takeJobs("payments");
  };
  expect(await askAgain()).toEqual([]);
  // A wallet of an older release does not have the time of the job.
  await transact({ wallet: updateOf(keys.wallet(organizationId), { remove: ["rechargeJobAt"] }) });
  expect(await askAgain()).toEqual([lost]);
  expect(await askAgain()).toEqual([]);
  setTime(Date.now() + hourMs + minuteMs);
  expect(await askAgain()).toEqual([lost]);
  await workOnPayment(PaymentJob.parse(lost));
  await workOnPayment(PaymentJob.parse(lost));
  expect(await paymentsIn(organizationId)).toMatchObject([{ status: "succeeded" }]);
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 21_000_000 });
});
