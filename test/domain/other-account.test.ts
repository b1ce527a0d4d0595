import { Stripe } from "stripe";
import { beforeEach, expect, it, vi } from "vitest";

import { abandonPayment } from "../../shared/money/payments/abandon.ts";
import { cancelPayment } from "../../shared/money/payments/cancel.ts";
import { comparePayments } from "../../shared/money/payments/compare.ts";
import { createPayment } from "../../shared/money/payments/create.ts";
import {
  addPaymentMethod,
  listPaymentMethods,
  removePaymentMethod,
} from "../../shared/money/payments/methods.ts";
import { processPayment } from "../../shared/money/payments/process.ts";
import { setAutoRecharge } from "../../shared/money/payments/recharge.ts";
import { readPayment, type PaymentKey } from "../../shared/money/payments/record.ts";
import { accountOf } from "../../shared/money/payments/stripe-state.ts";
import { stripeProvider } from "../../shared/money/payments/stripe.ts";
import { visitPayments } from "../../shared/money/payments/work.ts";
import { readWallet } from "../../shared/money/wallet/record.ts";
import { hourMs } from "../../shared/platform/clock.ts";
import { shardOf } from "../../shared/platform/jobs/shards.ts";
import { writeMetrics } from "../../shared/platform/metrics.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { updateOf } from "../../shared/platform/table/write.ts";
import {
  chargesOf,
  loseNextResponse,
  openCharge,
  openCustomer,
  openRefund,
  rejection,
  setTime,
} from "../support/charges.ts";
import { connectStripe, stripe } from "../support/connected-stripe.ts";
import { recordLog } from "../support/log.ts";
import { paymentsIn, setPayments, workOnPayments } from "../support/stored-payments.ts";
import { card, sendForm } from "../support/stripe.ts";

/* Payments while the keys of another account are connected, and rejections that prove nothing. */

vi.mock("../../shared/money/payments/stripe-client.ts", async () => import("../support/connected-stripe.ts"));

beforeEach(async () => {
  setPayments();
  await connectStripe();
});

const request = { amount: 20, method: "card", saveCard: false } as const;

async function balanceOf({ organizationId }: { organizationId: string }): Promise<number> {
  return (await readWallet(organizationId)).balanceMicros / 1e6;
}

/** Pays 20.00 at a checkout, whose event has not come. */
async function payCheckout(): Promise<PaymentKey> {
  const { organizationId } = await openCustomer(undefined, 0);
  const { id: paymentId, checkoutUrl = "" } = await createPayment(organizationId, request);
  await sendForm(checkoutUrl, card);
  return { organizationId, paymentId };
}

/** Charges the saved card of a new customer, and loses the response. */
async function loseCharge(): Promise<PaymentKey> {
  const { key } = await openCharge();
  loseNextResponse(stripe().client.paymentIntents);
  await expect(processPayment(key)).rejects.toThrow("Stripe reported");
  return key;
}

/** Recharges the wallet of a new customer with 50.00, and loses the response. */
async function loseRecharge(): Promise<PaymentKey> {
  const { organizationId } = await openCustomer(undefined, 0);
  await setAutoRecharge(organizationId, { isEnabled: true, threshold: 5, amount: 50, monthlyCap: 100 });
  loseNextResponse(stripe().client.paymentIntents);
  await expect(workOnPayments()).rejects.toThrow("Stripe reported");
  return { organizationId, paymentId: (await paymentsIn(organizationId))[0]?.id ?? "" };
}

/** Records a refund of 20.00 of a payment of 50.00. */
async function refundCharge(): Promise<PaymentKey> {
  const { key } = await openCharge();
  await processPayment(key);
  await openRefund(key);
  return key;
}

it.each([
  ["a paid checkout", payCheckout, 0, 20],
  ["a charge with a lost response", loseCharge, 0, 50],
  ["a recharge with a lost response", loseRecharge, 0, 50],
  ["a refund that is not submitted", refundCharge, 30, 30],
] as const)(
  "%s stays as it is under the keys of another account, and is settled once under its own",
  async (_, open, balanceBefore, balanceAfter) => {
    const key = await open();
    const right = stripe();
    await connectStripe();
    const waiting = await readPayment(key);
    setTime(Date.now() + 2 * hourMs);
    const log = recordLog();
    await visitPayments(shardOf(key.organizationId));
    expect(log.of("payment.not_processed")).toMatchObject([
      {
        ...key,
        error: { message: expect.stringMatching(/^the payment belongs to acct_\w+ test, and the keys/) },
      },
    ]);
    writeMetrics();
    expect(log.text()).toMatch(/"FailedPayments":\d/);
    const { visitAt: _visitAt, version: _version, ...kept } = waiting;
    expect(await readPayment(key)).toMatchObject(kept);
    expect(await balanceOf(key)).toBe(balanceBefore);
    const differences = await comparePayments();
    const ownOnes = differences.filter((each) => each.organizationId === key.organizationId);
    expect(ownOnes).toMatchObject([{ ...key, difference: "other account" }]);
    await expect(cancelPayment(key)).rejects.toMatchObject({
      code: open === payCheckout ? "PAYMENT_PROVIDER_UNAVAILABLE" : "CONFLICT",
    });

    await connectStripe(right);
    setTime(Date.now() + hourMs);
    for (let visit = 0; visit < 2; visit += 1) await processPayment(key);
    const { status, refunds } = await readPayment(key);
    expect([status, ...refunds.map((each) => each.status)]).toEqual([
      "succeeded",
      ...waiting.refunds.map(() => "succeeded"),
    ]);
    expect(await balanceOf(key)).toBe(balanceAfter);
    expect(
      (await right.client.paymentIntents.list({})).data.filter((each) => each.status === "succeeded"),
    ).toHaveLength(1);
  },
);

it("a comparison during which the keys of another account are connected proves nothing", async () => {
  const { key } = await openCharge();
  await processPayment(key);
  const provider = { ...stripeProvider };
  vi.spyOn(stripeProvider, "account").mockImplementationOnce(async () => {
    const found = await provider.account();
    await connectStripe();
    return found;
  });
  const log = recordLog();
  await expect(comparePayments()).rejects.toThrow("the payment belongs to");
  expect(log.of("payment.differs")).toEqual([]);
});

const errors: [string, () => Error][] = [
  ["400", () => rejection({ code: "parameter_unknown", statusCode: 400 })],
  ["400 that names it as missing", () => rejection({ code: "resource_missing", statusCode: 400 })],
  [
    "401",
    () =>
      new Stripe.errors.StripeAuthenticationError({
        type: "invalid_request_error",
        message: "No.",
        statusCode: 401,
      }),
  ],
  [
    "403",
    () =>
      new Stripe.errors.StripePermissionError({
        type: "invalid_request_error",
        message: "No.",
        statusCode: 403,
      }),
  ],
];
it.each(errors)(
  "a paid checkout whose read is rejected with a %s stays pending, and is credited later",
  async (_, error) => {
    const key = await payCheckout();
    setTime(Date.now() + 2 * hourMs);
    vi.spyOn(stripe().client.checkout.sessions, "retrieve").mockRejectedValueOnce(error());
    await expect(processPayment(key)).rejects.toThrow("Stripe reported");
    expect(await readPayment(key)).toMatchObject({ status: "pending", pendingWork: expect.any(String) });
    expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
    expect(await balanceOf(key)).toBe(20);
  },
);

it("a payment of an earlier release gets its account from the first read, and does not end without one", async () => {
  const { organizationId } = await openCustomer(undefined, 0);
  const { id: paymentId, checkoutUrl = "" } = await createPayment(organizationId, request);
  const key = { organizationId, paymentId };
  const { providerAccount } = await readPayment(key);
  expect(providerAccount).toMatch(/^acct_\w+ test$/);
  const forget = updateOf(keys.payment(organizationId, paymentId), { remove: ["providerAccount"] });
  await transact({ forget });
  expect((await processPayment(key))?.providerAccount).toBe(providerAccount);
  await transact({ forget });
  const right = stripe();
  await sendForm(checkoutUrl, card);
  await connectStripe();
  setTime(Date.now() + 2 * hourMs);
  await expect(processPayment(key)).rejects.toThrow("resource_missing");
  await connectStripe(right);
  setTime(Date.now() + hourMs);
  expect(await processPayment(key)).toMatchObject({ status: "succeeded", providerAccount });
  expect(await balanceOf(key)).toBe(20);
});

it("saved cards are there again when the keys of their account return, and are charged", async () => {
  const { organizationId, customerId, card: method } = await openCustomer(undefined, 0);
  const right = stripe();
  await connectStripe();
  expect(await listPaymentMethods(organizationId)).toEqual([]);
  await expect(removePaymentMethod(organizationId, method)).rejects.toMatchObject({ code: "NOT_FOUND" });
  for (let call = 0; call < 2; call += 1) await addPaymentMethod(organizationId, {});
  expect((await stripe().client.customers.list()).data).toHaveLength(1);
  await connectStripe(right);
  const charged = await createPayment(organizationId, { ...request, paymentMethodId: method });
  await processPayment({ organizationId, paymentId: charged.id });
  expect(await balanceOf({ organizationId })).toBe(20);
  expect(await chargesOf(customerId)).toBe(1);
  vi.spyOn(stripe().client.paymentMethods, "retrieve").mockRejectedValueOnce(rejection({ statusCode: 400 }));
  await expect(removePaymentMethod(organizationId, method)).rejects.toMatchObject({
    code: "PAYMENT_PROVIDER_UNAVAILABLE",
  });
  expect(await removePaymentMethod(organizationId, method)).toEqual({ id: method, deleted: true });
});

it("an account differs by the mode of its key, and is unknown to a restricted key", async () => {
  const { client } = stripe();
  const [live, test] = [await accountOf(client, "rk_live_1"), await accountOf(client, "sk_test_1")];
  expect([live, test]).toEqual([expect.stringMatching(/^acct_\w+ live$/), live?.replace("live", "test")]);
  const forbidden = rejection({ statusCode: 403 });
  vi.spyOn(client.accounts, "retrieveCurrent").mockRejectedValue(forbidden);
  expect(await accountOf(client, "rk_test_1")).toBeUndefined();
  expect(await stripeProvider.account()).toBeUndefined();
  // Such keys work, and their payments have no account.
  const key = await payCheckout();
  expect(await processPayment(key)).toMatchObject({ status: "succeeded" });
  expect((await readPayment(key)).providerAccount).toBeUndefined();
});

it("a payment of a closed account ends by the operator, and is credited if its account returns", async () => {
  const keysOf = [await payCheckout(), await refundCharge(), await loseRecharge()] as const;
  for (const key of keysOf) await expect(abandonPayment(key)).rejects.toThrow("The gateway settles it.");
  const right = stripe();
  await connectStripe();
  const down = new Stripe.errors.StripeConnectionError({ type: "api_error", message: "down" });
  const retrieve = vi.spyOn(stripe().client.accounts, "retrieveCurrent").mockRejectedValueOnce(down);
  await expect(abandonPayment(keysOf[0])).rejects.toThrow("Stripe reported");
  retrieve.mockRejectedValueOnce(errors[2]?.[1]());
  for (let repeat = 0; repeat < 2; repeat += 1) for (const key of keysOf) await abandonPayment(key);
  const [checkout, refunded, recharge] = await Promise.all(keysOf.map(readPayment));
  expect([checkout?.status, refunded?.refunds[0]?.status, recharge?.status]).toEqual([
    "expired",
    "failed",
    "expired",
  ]);
  for (const payment of [checkout, refunded, recharge]) expect(payment?.pendingWork).toBeUndefined();
  expect(await Promise.all(keysOf.map(balanceOf))).toEqual([0, 50, 0]);
  expect((await readWallet(recharge?.organizationId ?? "")).rechargeId).toBeUndefined();
  await connectStripe(right);
  await comparePayments();
  expect(await Promise.all(keysOf.map(balanceOf))).toEqual([20, 50, 50]);
});
