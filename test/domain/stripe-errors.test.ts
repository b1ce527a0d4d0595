import { Stripe } from "stripe";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { PaymentFailure } from "../../shared/api/contract/payments.ts";
import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { createPayment, newPayment } from "../../shared/money/payments/create.ts";
import { addPaymentMethod, listPaymentMethods } from "../../shared/money/payments/methods.ts";
import { PaymentJob } from "../../shared/money/payments/payment-job.ts";
import { processPayment } from "../../shared/money/payments/process.ts";
import { ProviderUnavailableError } from "../../shared/money/payments/provider.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import {
  paymentPut,
  paymentsOf,
  readPayment,
  type PaymentRecord,
} from "../../shared/money/payments/record.ts";
import { recordRefund } from "../../shared/money/payments/refund.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { workOnPayment } from "../../shared/money/payments/work.ts";
import { requestRecharge } from "../../shared/money/wallet/recharge.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { dayMs, hourMs, minuteMs } from "../../shared/platform/clock.ts";
import { config } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { updateOf, deleteOf } from "../../shared/platform/table/write.ts";
import { useOwnTable } from "../support/own-table.ts";
import { takeJobs } from "../support/queues.ts";
import { saveCard, startStripe, type TestStripe } from "../support/stripe.ts";
import { openWallet } from "../support/wallets.ts";

/* Calls that Stripe rejects, and responses that get lost. The provider is the local Stripe, which compares idempotency keys. */

let connected: TestStripe;
vi.mock("../../shared/money/payments/stripe-client.ts", () => ({
  connection: async () => ({ stripe: connected.client, webhookSecret: "whsec_test" }),
}));
process.env["API_URL"] = "http://127.0.0.1:3321";
await useOwnTable();

const accepted = "4242424242424242";
const authenticated = "4000002760003184";
const settings = { isEnabled: true, threshold: 5, amount: 20, monthlyCap: 100 };

beforeEach(async () => {
  vi.spyOn(config, "payments").mockReturnValue('{"cards":"sandbox"}');
  connected = await startStripe();
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await takeJobs("emails");
  await takeJobs("payments");
});

/** Opens an organization whose customer has saved a card. */
async function openCustomer(
  number = accepted,
  balanceMicros = 1_000_000,
): Promise<{ organizationId: string; customerId: string; card: string }> {
  const { customer: customerId, payment_method: card } = await saveCard(connected, number);
  const organizationId = await openWallet(balanceMicros);
  const set = { entity: "billing", organizationId, customerId } as const;
  await transact({ billing: updateOf(keys.billing(organizationId), { set }) });
  return { organizationId, customerId, card };
}

/** Records a payment by a saved card. */
async function openCharge({ organizationId, card }: { organizationId: string; card: string }) {
  const billing = await readBilling(organizationId);
  const method = { method: "card", origin: "saved_card", paymentMethodId: card } as const;
  const payment = newPayment({ organizationId, ...method, amountMicros: 50_000_000, billing });
  await transact({ payment: paymentPut(payment) });
  return { payment, key: { organizationId, paymentId: payment.id } };
}

async function recordsOf(organizationId: string): Promise<PaymentRecord[]> {
  const found: PaymentRecord[] = [];
  for await (const payment of paymentsOf(organizationId)) found.push(payment);
  return found;
}

async function chargesOf(customer: string): Promise<number> {
  return (await connected.client.paymentIntents.list({ customer })).data.length;
}

function rejection(fields: { readonly param?: string; readonly code?: string; readonly statusCode: number }) {
  return new Stripe.errors.StripeInvalidRequestError({
    type: "invalid_request_error",
    message: "No.",
    ...fields,
  });
}

/** Lets the response to the next charge get lost: Stripe has carried it out. */
function loseChargeResponse(): void {
  const { paymentIntents } = connected.client;
  const create = paymentIntents.create.bind(paymentIntents);
  vi.spyOn(paymentIntents, "create").mockImplementationOnce(async (input, options) => {
    await create(input, options);
    throw new Stripe.errors.StripeConnectionError({ type: "api_error", message: "lost" });
  });
}

function timeAgo(ms: number): string {
  return new Date(Date.now() - ms).toISOString();
}

/** Sets both clocks. */
function setTime(ms: number): void {
  vi.useFakeTimers({ toFake: ["Date"], now: ms });
  connected.clock.now = ms;
}

it("a checkout whose response was lost is opened by the next visit", async () => {
  const { key, payment } = await openCharge(await openCustomer(authenticated, 0));
  const { sessions } = connected.client.checkout;
  const create = sessions.create.bind(sessions);
  vi.spyOn(sessions, "create").mockImplementationOnce(async (input, options) => {
    await create(input, options);
    throw new Stripe.errors.StripeConnectionError({ type: "api_error", message: "lost" });
  });
  await expect(processPayment(key)).rejects.toThrow("cannot be reached");
  setTime(Date.parse(payment.createdAt) + 2 * minuteMs);
  const { checkoutUrl } = (await processPayment(key)) ?? {};
  expect(checkoutUrl).toMatch(/\/checkout\/cs_/);
});

it("a customer that Stripe has lost is made again, by each call of a person", async () => {
  const { organizationId, customerId, card } = await openCustomer();
  connected = await startStripe();
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
    connected = await startStripe();
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
  vi.spyOn(connected.client.checkout.sessions, "create").mockRejectedValue(
    rejection({ param: "line_items", code: "amount_too_small", statusCode: 400 }),
  );
  await expect(
    createPayment(organizationId, { amount: 20, method: "card", saveCard: false }),
  ).rejects.toMatchObject({ code: "PAYMENT_PROVIDER_UNAVAILABLE" });
  expect(await readBilling(organizationId)).toMatchObject({ customerId });
  expect(await recordsOf(organizationId)).toEqual([]);
});

it.each([
  ["amount_too_small", { param: "amount", code: "amount_too_small", statusCode: 400 }, "provider_error"],
  ["its card", { param: "payment_method", code: "resource_missing", statusCode: 400 }, "no_payment_method"],
  ["its customer", { param: "customer", code: "resource_missing", statusCode: 400 }, "no_payment_method"],
] satisfies [string, Parameters<typeof rejection>[0], PaymentFailure][])(
  "a charge that Stripe rejects because of %s fails, and no repeated job charges it later",
  async (_, fields, failure) => {
    const customer = await openCustomer(accepted, 0);
    const { key } = await openCharge(customer);
    vi.spyOn(connected.client.paymentIntents, "create").mockRejectedValueOnce(rejection(fields));
    expect(await processPayment(key)).toMatchObject({ status: "failed", failure });
    expect(await processPayment(key)).toMatchObject({ status: "failed", failure });
    expect((await readPayment(key)).pendingWork).toBeUndefined();
    expect(await chargesOf(customer.customerId)).toBe(0);
  },
);

it("a charge whose response was lost is found after Stripe lost the customer", async () => {
  const customer = await openCustomer(accepted, 0);
  const { key } = await openCharge(customer);
  loseChargeResponse();
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  vi.spyOn(connected.client.paymentIntents, "list").mockImplementationOnce(() => {
    throw rejection({ param: "customer", code: "resource_missing", statusCode: 400 });
  });
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  expect((await readWallet(customer.organizationId)).balanceMicros).toBe(50_000_000);
});

/** Gives an organization another customer at Stripe, as a payment in between does. */
async function replaceCustomer(organizationId: string): Promise<void> {
  const { id } = await connected.client.customers.create();
  await transact({ billing: updateOf(keys.billing(organizationId), { set: { customerId: id } }) });
}

it.each(["pending", "failed"] as const)(
  "a charge whose response was lost is found after its customer was replaced, and the payment is %s",
  async (status) => {
    const customer = await openCustomer(accepted, 0);
    const { key } = await openCharge(customer);
    loseChargeResponse();
    await expect(processPayment(key)).rejects.toThrow("Stripe reported");
    await replaceCustomer(key.organizationId);
    const set = { status };
    await transact({ payment: updateOf(keys.payment(key.organizationId, key.paymentId), { set }) });
    expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
    expect(await chargesOf(customer.customerId)).toBe(1);
    expect((await readWallet(key.organizationId)).balanceMicros).toBe(50_000_000);
  },
);

it("a charge that Stripe did not make ends after its customer was replaced", async () => {
  const customer = await openCustomer(accepted, 0);
  const { key } = await openCharge(customer);
  const { paymentIntents } = connected.client;
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
  await replaceCustomer(customer.organizationId);
  expect(await processPayment(key)).toMatchObject({ status: "failed", failure: "no_payment_method" });
});

it("a checkout is opened for another customer in the same second", async () => {
  const { organizationId } = await openCustomer();
  const { sessions } = connected.client.checkout;
  setTime(Date.parse("2031-01-01T00:00:00.000Z"));
  const billing = await readBilling(organizationId);
  const method = { method: "card", origin: "checkout" } as const;
  const payment = newPayment({ organizationId, ...method, amountMicros: 50_000_000, billing });
  const order = { payment, saveCard: false, returnUrl: "https://example.com" };
  const other = await connected.client.customers.create();
  const create = vi.spyOn(sessions, "create");
  const open = async (customerId = "") => stripeProvider.createCheckout({ ...order, customerId });
  const opened = [await open(billing.customerId), await open(other.id), await open(other.id)];
  expect(create).toHaveBeenCalledTimes(3);
  expect(new Set(opened.map(({ sessionId }) => sessionId)).size).toBe(2);
});

it("a charge that meets a concurrent request is repeated, and made once", async () => {
  const customer = await openCustomer(accepted, 0);
  const { key } = await openCharge(customer);
  vi.spyOn(connected.client.paymentIntents, "create").mockRejectedValueOnce(rejection({ statusCode: 409 }));
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  expect(await chargesOf(customer.customerId)).toBe(1);
  expect((await readWallet(customer.organizationId)).balanceMicros).toBe(50_000_000);
});

it("a refund that meets a concurrent request is repeated, and one that Stripe rejects returns the money", async () => {
  const customer = await openCustomer(accepted, 0);
  const { key } = await openCharge(customer);
  await processPayment(key);
  await recordRefund(key, { id: newId("rfd"), amountMicros: 20_000_000, reason: "Refund" });
  const create = vi.spyOn(connected.client.refunds, "create");
  create.mockRejectedValueOnce(rejection({ statusCode: 409 }));
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  create.mockRejectedValueOnce(rejection({ code: "charge_disputed", statusCode: 400 }));
  expect((await processPayment(key))?.refunds).toMatchObject([{ status: "failed" }]);
  expect((await readWallet(customer.organizationId)).balanceMicros).toBe(50_000_000);
});

it("a payment that Stripe does not have ends after a month, and its unsubmitted refunds return their money", async () => {
  const customer = await openCustomer(accepted, 0);
  const { key } = await openCharge(customer);
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  await recordRefund(key, { id: newId("rfd"), amountMicros: 20_000_000, reason: "Refund" });
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
  await transact({ payment: updateOf(keys.payment(key.organizationId, key.paymentId), { set }) });
  connected = await startStripe();
  const log = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const processed = await processPayment(key);
  expect(String(log.mock.calls).match(/payment\.missing/g)).toHaveLength(1);
  log.mockRestore();
  // The outcomes of these are unknown.
  expect(processed?.refunds.map(({ status }) => status)).toEqual(["pending", "failed"]);
  expect(processed?.disputes).toMatchObject([{ status: "open" }]);
  // The keys may be those of another account. Meanwhile it is visited.
  expect((await readPayment(key)).pendingWork).toBeDefined();
  setTime(Date.now() + 31 * dayMs);
  await processPayment(key);
  expect((await readPayment(key)).pendingWork).toBeUndefined();
  expect((await readWallet(customer.organizationId)).balanceMicros).toBe(50_000_000);
});

it("a refund that Stripe made, and that counted as failed under other keys, is taken from the wallet again, once", async () => {
  const customer = await openCustomer(accepted, 0);
  const { key } = await openCharge(customer);
  await processPayment(key);
  await recordRefund(key, { id: newId("rfd"), amountMicros: 20_000_000, reason: "Refund" });
  const right = connected;
  const create = right.client.refunds.create.bind(right.client.refunds);
  vi.spyOn(right.client.refunds, "create").mockImplementationOnce(async (input, options) => {
    await create(input, options);
    throw new Stripe.errors.StripeConnectionError({ type: "api_error", message: "lost" });
  });
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  connected = await startStripe();
  vi.spyOn(process.stdout, "write").mockReturnValue(true);
  expect((await processPayment(key))?.refunds).toMatchObject([{ status: "failed" }]);
  expect((await readWallet(customer.organizationId)).balanceMicros).toBe(50_000_000);
  connected = right;
  for (let visit = 0; visit < 3; visit += 1) await processPayment(key);
  const statuses = (await readPayment(key)).refunds.map(({ status }) => status);
  expect(statuses).toEqual(["failed", "succeeded"]);
  expect((await readWallet(customer.organizationId)).balanceMicros).toBe(30_000_000);
});

it("a payment that Stripe has stays pending work while Stripe rejects a call for another reason", async () => {
  const customer = await openCustomer(accepted, 0);
  const { key } = await openCharge(customer);
  await processPayment(key);
  await recordRefund(key, { id: newId("rfd"), amountMicros: 20_000_000, reason: "Refund" });
  const retrieve = vi.spyOn(connected.client.paymentIntents, "retrieve");
  retrieve.mockRejectedValueOnce(rejection({ code: "parameter_unknown", statusCode: 400 }));
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  expect((await processPayment(key))?.refunds).toMatchObject([{ status: "succeeded" }]);
  expect((await readWallet(customer.organizationId)).balanceMicros).toBe(30_000_000);
});

it("a recovery checkout that Stripe rejects ends its payment", async () => {
  const { key } = await openCharge(await openCustomer(authenticated, 0));
  vi.spyOn(connected.client.checkout.sessions, "create").mockRejectedValue(
    rejection({ param: "line_items", statusCode: 400 }),
  );
  expect(await processPayment(key)).toMatchObject({ status: "failed", failure: "authentication_required" });
});

it("a checkout that Stripe does not have expires when no one can pay there any more", async () => {
  const { organizationId } = await openCustomer();
  const request = { amount: 20, method: "card", saveCard: false } as const;
  const key = { organizationId, paymentId: (await createPayment(organizationId, request)).id };
  connected = await startStripe();
  await expect(processPayment(key)).rejects.toThrow("Stripe reported resource_missing");
  setTime(Date.now() + 2 * hourMs);
  expect(await processPayment(key)).toMatchObject({ status: "expired" });
});

it("a recharge whose customer Stripe does not have fails, and the next one may start", async () => {
  const { organizationId } = await openCustomer();
  await setAutoRecharge(organizationId, settings);
  const [job] = await takeJobs("payments");
  connected = await startStripe();
  await workOnPayment(PaymentJob.parse(job));
  expect(await recordsOf(organizationId)).toMatchObject([{ status: "failed", failure: "no_payment_method" }]);
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
  const [payment, ...others] = await recordsOf(organizationId);
  expect(others).toEqual([]);
  expect(payment).toMatchObject({ status: "pending", pendingWork: expect.stringMatching(/^PAYMENT#/) });
  outage.mockRestore();

  // The response to the charge is lost, and meanwhile the customer saves another card.
  loseChargeResponse();
  const key = { organizationId, paymentId: payment?.id ?? "" };
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  expect(await readPayment(key)).toMatchObject({ status: "pending", paymentMethodId: card });
  vi.spyOn(stripeProvider, "listMethods").mockRejectedValue(new Error("the card is chosen once"));
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  expect(await chargesOf(customerId)).toBe(1);
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 21_000_000 });
});

it("a recharge that a restore lost after it was charged is found by the wallet's note, and not charged again", async () => {
  const customer = await openCustomer(accepted, 1_000_000);
  await setAutoRecharge(customer.organizationId, settings);
  for (const job of await takeJobs("payments")) await workOnPayment(PaymentJob.parse(job));
  const [payment] = await recordsOf(customer.organizationId);
  const { organizationId, id = "" } = { ...customer, ...payment };
  await transact({
    payment: deleteOf(keys.payment(organizationId, id)),
    wallet: updateOf(keys.wallet(organizationId), { set: { rechargeId: id, balanceMicros: 1_000_000 } }),
  });
  setTime(Date.now() + 30 * hourMs);
  await requestRecharge(await readWallet(organizationId));
  for (const job of await takeJobs("payments"))
    await workOnPayment(PaymentJob.parse(job)).catch(() => undefined);
  expect(await chargesOf(customer.customerId)).toBe(1);
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
  expect(await recordsOf(organizationId)).toMatchObject([{ status: "succeeded" }]);
  expect(await readWallet(organizationId)).toMatchObject({ balanceMicros: 21_000_000 });
});
