import { Stripe } from "stripe";
import { beforeEach, expect, it, vi } from "vitest";

import type { PaymentFailure } from "../../shared/api/contract/payments.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { createPayment, newPayment } from "../../shared/money/payments/create.ts";
import { addPaymentMethod, listPaymentMethods } from "../../shared/money/payments/methods.ts";
import { processPayment } from "../../shared/money/payments/process.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { readPayment } from "../../shared/money/payments/record.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { writeMetrics } from "../../shared/platform/metrics.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { updateOf } from "../../shared/platform/table/write.ts";
import {
  chargesOf,
  loseNextResponse,
  numbers,
  openCharge,
  openCustomer,
  openRefund,
  rejection,
  setCustomer,
  setTime,
} from "../support/charges.ts";
import { connectStripe, loseObjects, stripe } from "../support/connected-stripe.ts";
import { recordLog } from "../support/log.ts";
import { paymentsIn, setPayments } from "../support/stored-payments.ts";

/* Calls that Stripe rejects, and responses that get lost. The provider is the local Stripe, which compares idempotency keys. */

vi.mock("../../shared/money/payments/stripe-client.ts", async () => import("../support/connected-stripe.ts"));

const settings = { isEnabled: true, threshold: 5, amount: 20, monthlyCap: 100 };

beforeEach(async () => {
  setPayments();
  await connectStripe();
});

async function balanceOf(organizationId: string): Promise<number> {
  return (await readWallet(organizationId)).balanceMicros;
}

function timeAgo(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

it("a checkout whose response was lost is opened by the next visit", async () => {
  const { key, createdAt } = await openCharge(numbers.authenticated);
  loseNextResponse(stripe().client.checkout.sessions);
  await expect(processPayment(key)).rejects.toThrow("cannot be reached");
  setTime(Date.parse(createdAt) + 2 * minuteMs);
  const { checkoutUrl } = (await processPayment(key)) ?? {};
  expect(checkoutUrl).toMatch(/\/checkout\/cs_/);
});

it("a customer that Stripe has lost is made again, by each call of a person", async () => {
  const { organizationId, customerId, card } = await openCustomer();
  await connectStripe();
  const minimum = { amount: 20, method: "card", saveCard: false } as const;
  expect(await listPaymentMethods(organizationId)).toEqual([]);
  expect(await createPayment(organizationId, minimum)).toMatchObject({ status: "pending" });
  const { customerId: second } = await readBilling(organizationId);
  expect(second).not.toBe(customerId);
  // Stripe returns the first customer for the same idempotency key.
  const first = await stripeProvider.createCustomer(organizationId);
  expect(await stripeProvider.createCustomer(organizationId)).toBe(first);
  expect(await stripeProvider.createCustomer(organizationId, first)).not.toBe(first);
  for (const call of [
    async () => addPaymentMethod(organizationId, {}),
    async () => createPayment(organizationId, { ...minimum, paymentMethodId: card }),
    async () => setAutoRecharge(organizationId, settings),
  ]) {
    const { customerId: before } = await readBilling(organizationId);
    await connectStripe();
    const error = await call().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(Object(error).code).toBeOneOf([undefined, "VALIDATION_ERROR"]);
    expect((await readBilling(organizationId)).customerId).not.toBe(before);
  }
});

it("another error of Stripe makes no other customer", async () => {
  const { organizationId, customerId } = await openCustomer();
  vi.spyOn(stripe().client.checkout.sessions, "create").mockRejectedValue(
    rejection({ param: "line_items", code: "amount_too_small", statusCode: 400 }),
  );
  await expect(
    createPayment(organizationId, { amount: 20, method: "card", saveCard: false }),
  ).rejects.toMatchObject({ code: "PAYMENT_PROVIDER_UNAVAILABLE" });
  expect(await readBilling(organizationId)).toMatchObject({ customerId });
  expect(await paymentsIn(organizationId)).toEqual([]);
});

it.each([
  ["amount_too_small", { param: "amount", code: "amount_too_small", statusCode: 400 }, "provider_error"],
  ["its card", { param: "payment_method", code: "resource_missing", statusCode: 400 }, "no_payment_method"],
  ["its customer", { param: "customer", code: "resource_missing", statusCode: 400 }, "no_payment_method"],
] satisfies [string, Parameters<typeof rejection>[0], PaymentFailure][])(
  "a charge that Stripe rejects because of %s fails, and no repeated job charges it later",
  async (_, fields, failure) => {
    const { key, customerId } = await openCharge();
    vi.spyOn(stripe().client.paymentIntents, "create").mockRejectedValueOnce(rejection(fields));
    expect(await processPayment(key)).toMatchObject({ status: "failed", failure });
    expect(await processPayment(key)).toMatchObject({ status: "failed", failure });
    expect((await readPayment(key)).pendingWork).toBeUndefined();
    expect(await chargesOf(customerId)).toBe(0);
  },
);

it("a charge whose response was lost is found after Stripe lost the customer", async () => {
  const { key, organizationId } = await openCharge();
  loseNextResponse(stripe().client.paymentIntents);
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  vi.spyOn(stripe().client.paymentIntents, "list").mockImplementationOnce(() => {
    throw rejection({ param: "customer", code: "resource_missing", statusCode: 400 });
  });
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  expect(await balanceOf(organizationId)).toBe(50_000_000);
});

/** Gives an organization another customer at Stripe, as a payment in between does. */
async function replaceCustomer(organizationId: string): Promise<void> {
  await setCustomer(organizationId, (await stripe().client.customers.create()).id);
}

it.each(["pending", "failed"] as const)(
  "a charge whose response was lost is found after its customer was replaced, and the payment is %s",
  async (status) => {
    const { key, organizationId, customerId } = await openCharge();
    loseNextResponse(stripe().client.paymentIntents);
    await expect(processPayment(key)).rejects.toThrow("Stripe reported");
    await replaceCustomer(organizationId);
    const set = { status };
    await transact({ payment: updateOf(keys.payment(organizationId, key.paymentId), { set }) });
    expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
    expect(await chargesOf(customerId)).toBe(1);
    expect(await balanceOf(organizationId)).toBe(50_000_000);
  },
);

it("a charge that Stripe did not make ends after its customer was replaced", async () => {
  const { key, organizationId } = await openCharge();
  const { paymentIntents } = stripe().client;
  const create = paymentIntents.create.bind(paymentIntents);
  const used = new Map<string | undefined, string>();
  // Stripe keeps the key of a request that failed with an error of its own.
  vi.spyOn(paymentIntents, "create").mockImplementation(async (input, options) => {
    const parameters = JSON.stringify(input);
    const first = used.get(options?.idempotencyKey);
    used.set(options?.idempotencyKey, first ?? parameters);
    if (used.size === 1 && first === undefined)
      throw new Stripe.errors.StripeAPIError({ type: "api_error", message: "No." });
    if (first !== undefined && first !== parameters)
      throw new Stripe.errors.StripeIdempotencyError({ type: "idempotency_error", message: "No." });
    return create(input, options);
  });
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  await replaceCustomer(organizationId);
  expect(await processPayment(key)).toMatchObject({ status: "failed", failure: "no_payment_method" });
});

it("a checkout is opened for another customer in the same second", async () => {
  const { organizationId } = await openCustomer();
  const { sessions } = stripe().client.checkout;
  setTime(Date.parse("2031-01-01T00:00:00.000Z"));
  const billing = await readBilling(organizationId);
  const method = { method: "card", origin: "checkout" } as const;
  const payment = newPayment({ organizationId, ...method, amountMicros: 50_000_000, billing });
  const order = { payment, saveCard: false, returnUrl: "https://example.com" };
  const other = await stripe().client.customers.create();
  const create = vi.spyOn(sessions, "create");
  const open = async (customerId = "") => stripeProvider.createCheckout({ ...order, customerId });
  const opened = [await open(billing.customerId), await open(other.id), await open(other.id)];
  expect(create).toHaveBeenCalledTimes(3);
  expect(new Set(opened.map(({ sessionId }) => sessionId)).size).toBe(2);
});

it("a charge that meets a concurrent request is repeated, and made once", async () => {
  const { key, organizationId, customerId } = await openCharge();
  vi.spyOn(stripe().client.paymentIntents, "create").mockRejectedValueOnce(rejection({ statusCode: 409 }));
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  expect(await chargesOf(customerId)).toBe(1);
  expect(await balanceOf(organizationId)).toBe(50_000_000);
});

it("a refund that meets a concurrent request is repeated, and one that Stripe rejects returns the money", async () => {
  const { key, organizationId } = await openCharge();
  await processPayment(key);
  await openRefund(key);
  const create = vi.spyOn(stripe().client.refunds, "create");
  create.mockRejectedValueOnce(rejection({ statusCode: 409 }));
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  create.mockRejectedValueOnce(rejection({ code: "charge_disputed", statusCode: 400 }));
  expect((await processPayment(key))?.refunds).toMatchObject([{ status: "failed" }]);
  expect(await balanceOf(organizationId)).toBe(50_000_000);
});

it("a payment that Stripe does not have ends after a month, and its unsubmitted refunds return their money", async () => {
  const { key, organizationId } = await openCharge();
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  await openRefund(key);
  const { refunds: unsubmitted } = await readPayment(key);
  const at = { totalMicros: 5_000_000, amountMicros: 5_000_000 };
  const submitted = {
    ...at,
    id: "rfd_1",
    providerRefundId: "re_1",
    status: "pending",
    createdAt: timeAgo(20 * dayMs),
  } as const;
  const dispute = {
    ...at,
    id: "dp_1",
    feeMicros: 0,
    status: "open",
    openedAt: timeAgo(20 * dayMs),
  } as const;
  const set = {
    createdAt: timeAgo(60 * dayMs),
    refunds: [submitted, ...unsubmitted],
    disputes: [dispute],
  };
  await transact({ payment: updateOf(keys.payment(organizationId, key.paymentId), { set }) });
  await loseObjects();
  const log = recordLog();
  const processed = await processPayment(key);
  expect(log.of("payment.missing")).toHaveLength(1);
  // The outcomes of these are unknown.
  expect(processed?.refunds.map(({ status }) => status)).toEqual(["pending", "failed"]);
  expect(processed?.disputes).toMatchObject([{ status: "open" }]);
  // It is visited, because the operator may get it back.
  expect((await readPayment(key)).pendingWork).toBeDefined();
  setTime(Date.now() + 31 * dayMs);
  await processPayment(key);
  expect((await readPayment(key)).pendingWork).toBeUndefined();
  expect(await balanceOf(organizationId)).toBe(50_000_000);
});

it("a refund that Stripe made, and that failed while Stripe had lost it, is taken from the wallet again, once", async () => {
  const { key, organizationId } = await openCharge();
  await processPayment(key);
  await openRefund(key);
  const right = stripe();
  loseNextResponse(right.client.refunds);
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  await loseObjects();
  recordLog();
  expect((await processPayment(key))?.refunds).toMatchObject([{ status: "failed" }]);
  expect(await balanceOf(organizationId)).toBe(50_000_000);
  await connectStripe(right);
  for (let visit = 0; visit < 3; visit += 1) await processPayment(key);
  const statuses = (await readPayment(key)).refunds.map(({ status }) => status);
  expect(statuses).toEqual(["failed", "succeeded"]);
  expect(await balanceOf(organizationId)).toBe(30_000_000);
});

it("a payment that Stripe has stays pending work while Stripe rejects a call for another reason", async () => {
  const { key, organizationId } = await openCharge();
  await processPayment(key);
  await openRefund(key);
  const retrieve = vi.spyOn(stripe().client.paymentIntents, "retrieve");
  retrieve.mockRejectedValueOnce(rejection({ code: "parameter_unknown", statusCode: 400 }));
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  expect((await processPayment(key))?.refunds).toMatchObject([{ status: "succeeded" }]);
  expect(await balanceOf(organizationId)).toBe(30_000_000);
});

it("a recovery checkout that Stripe rejects ends its payment", async () => {
  const { key } = await openCharge(numbers.authenticated);
  vi.spyOn(stripe().client.checkout.sessions, "create").mockRejectedValue(
    rejection({ param: "line_items", statusCode: 400 }),
  );
  expect(await processPayment(key)).toMatchObject({ status: "failed", failure: "authentication_required" });
});

it("a checkout that its account does not have expires when no one can pay there, and is reported", async () => {
  const { organizationId } = await openCustomer();
  const request = { amount: 20, method: "card", saveCard: false } as const;
  const key = { organizationId, paymentId: (await createPayment(organizationId, request)).id };
  await loseObjects();
  await expect(processPayment(key)).rejects.toThrow("Stripe reported resource_missing");
  setTime(Date.now() + 2 * hourMs);
  const log = recordLog();
  expect(await processPayment(key)).toMatchObject({ status: "expired" });
  expect(log.of("payment.missing")).toMatchObject([key]);
  writeMetrics();
  expect(log.text()).toMatch(/"PaymentDifferences":\d/);
});
