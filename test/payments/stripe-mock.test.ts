import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";

import type { PaymentRecord } from "../../shared/money/payments/record.ts";
import { stripeProvider as provider } from "../../shared/money/payments/stripe.ts";
import { now } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { answering, startAwsServer, type AwsServer } from "../support/aws-server.ts";
import { stripeClient } from "../support/stripe.ts";
import { StripeMock } from "./stripe-mock.ts";

/* Each request of the adapter, checked by Stripe's own program. */

let mock: StripeMock;
let secrets: AwsServer;

beforeAll(async () => {
  mock = await StripeMock.start();
  secrets = await startAwsServer();
  const keys = { secretKey: "sk_test_123", webhookSecret: "whsec_test" };
  secrets.respond(answering({ SecretString: JSON.stringify(keys) }));
  vi.stubEnv("AWS_ENDPOINT_URL_SECRETS_MANAGER", secrets.url);
  vi.stubEnv(environmentNames.paymentSecretId, "payments/stripe");
  vi.stubEnv(environmentNames.stripeApiUrl, mock.url);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await secrets.stop();
  await mock.stop();
});
beforeEach(() => {
  mock.calls.length = 0;
  for (const name of Object.keys(mock.fields)) delete mock.fields[name];
});

const organizationId = "org_01M7Y6EGDXHA99AE471ACHQK57";
const customerId = "cus_123";
const returnUrl = "https://sms.example.com/console?session={CHECKOUT_SESSION_ID}";

function paymentWith(fields: Partial<PaymentRecord> = {}): PaymentRecord {
  return {
    entity: "payment",
    id: newId("pay"),
    organizationId,
    provider: "stripe",
    method: "card",
    origin: "checkout",
    status: "pending",
    amountMicros: 50_000_000,
    taxMicros: 10_000_000,
    totalMicros: 60_000_000,
    taxRate: 20,
    currency: "USD",
    refunds: [],
    disputes: [],
    unstored: [],
    createdAt: now().toISOString(),
    version: 1,
    ...fields,
  };
}

/** Expects that Stripe accepted each request. @returns the requests */
function acceptedCalls(): string[] {
  expect(mock.calls.filter(({ status }) => status !== 200)).toEqual([]);
  return mock.calls.map(({ request }) => request);
}

it("reads the account of the key, once", async () => {
  for (let call = 0; call < 2; call += 1) expect(await provider.account()).toMatch(/^acct_\w+ test$/);
  expect(acceptedCalls()).toEqual(["GET /v1/account"]);
});

it("makes a customer", async () => {
  expect(await provider.createCustomer(organizationId)).toMatch(/^cus_/);
  expect(acceptedCalls()).toEqual(["POST /v1/customers"]);
});

it.each([
  ["with tax", paymentWith(), true],
  ["without tax", paymentWith({ taxMicros: 0, totalMicros: 50_000_000, taxRate: 0 }), false],
  ["that replaces a recharge", paymentWith({ origin: "auto_recharge" }), false],
])("opens a checkout %s", async (_, payment, saveCard) => {
  // The address in the example is null.
  mock.fields["POST /v1/checkout/sessions"] = { url: "https://checkout.stripe.com/c/pay/cs_test_1" };
  const checkout = await provider.createCheckout({ payment, customerId, returnUrl, saveCard });
  expect(checkout).toEqual({
    sessionId: expect.stringMatching(/^cs_/),
    url: "https://checkout.stripe.com/c/pay/cs_test_1",
    expiresAt: expect.stringMatching(/^\d{4}-/),
    account: expect.stringMatching(/^acct_/),
  });
  expect(acceptedCalls()).toEqual(["POST /v1/checkout/sessions"]);
});

it("opens a page that saves a card", async () => {
  mock.fields["POST /v1/checkout/sessions"] = { url: "https://checkout.stripe.com/c/pay/cs_test_2" };
  expect(await provider.createSetup(organizationId, customerId, returnUrl)).toBe(
    "https://checkout.stripe.com/c/pay/cs_test_2",
  );
  expect(acceptedCalls()).toEqual(["POST /v1/checkout/sessions"]);
});

it("charges a saved card, and cancels a charge that requires the cardholder", async () => {
  const payment = paymentWith({ origin: "saved_card", paymentMethodId: "pm_123" });
  mock.fields["POST /v1/payment_intents"] = { id: "pi_1", status: "succeeded", amount_received: 6_000 };
  expect(await provider.charge({ payment, customerId })).toMatchObject({
    status: "succeeded",
    id: "pi_1",
    minorUnits: 6_000,
    currency: "USD",
  });
  expect(acceptedCalls()).toEqual(["GET /v1/payment_intents", "POST /v1/payment_intents"]);

  mock.fields["POST /v1/payment_intents"] = { id: "pi_2", status: "requires_action" };
  expect((await provider.charge({ payment, customerId })).status).toBe("unauthenticated");
  expect(acceptedCalls().at(-1)).toBe("POST /v1/payment_intents/pi_2/cancel");
});

it("reads a payment by its checkout", async () => {
  const payment = paymentWith({ providerSessionId: "cs_test_1" });
  mock.fields["GET /v1/checkout/sessions/cs_test_1"] = { status: "expired", payment_intent: null };
  expect((await provider.read(payment)).status).toBe("expired");
  expect(acceptedCalls()).toEqual(["GET /v1/checkout/sessions/cs_test_1"]);
});

it("reads a payment by its id, with its fee, refunds and disputes", async () => {
  const payment = paymentWith({ providerPaymentId: "pi_1" });
  mock.fields["GET /v1/payment_intents/pi_1"] = {
    status: "succeeded",
    amount_received: 6_000,
    latest_charge: {
      amount_refunded: 100,
      disputed: true,
      balance_transaction: { amount: 6_000, currency: "usd", fee: 204 },
    },
  };
  const state = await provider.read(payment);
  expect(state).toMatchObject({ status: "succeeded", id: "pi_1", minorUnits: 6_000, feeMinorUnits: 204 });
  expect(state.refunds.map(({ id }) => id)).toEqual([expect.stringMatching(/^re_/)]);
  expect(acceptedCalls()).toEqual(["GET /v1/payment_intents/pi_1", "GET /v1/refunds", "GET /v1/disputes"]);
});

it("refunds a payment", async () => {
  const payment = paymentWith({ providerPaymentId: "pi_1" });
  const refund = await provider.refund(payment, "rfd_1", 1_200);
  expect(refund).toMatchObject({ id: expect.stringMatching(/^re_/), minorUnits: 1_200 });
  expect(acceptedCalls()).toEqual(["GET /v1/refunds", "POST /v1/refunds"]);
});

it("lists saved cards, and removes one of this customer only", async () => {
  const [card] = await provider.listMethods(customerId);
  expect(card?.id).toMatch(/^pm_/);
  mock.fields["GET /v1/payment_methods/pm_1"] = { customer: customerId };
  expect(await provider.removeMethod(customerId, "pm_1")).toBe(true);
  expect(await provider.removeMethod(customerId, "pm_2")).toBe(false);
  expect(acceptedCalls()).toEqual([
    "GET /v1/customers/cus_123/payment_methods",
    "GET /v1/payment_methods/pm_1",
    "POST /v1/payment_methods/pm_1/detach",
    "GET /v1/payment_methods/pm_2",
  ]);
});

it("finds payments, and what happened to them later", async () => {
  const since = new Date(Date.now() - 86_400_000);
  const metadata = { organizationId, paymentId: "pay_1" };
  mock.fields["GET /v1/payment_intents/pi_1"] = { metadata };
  expect(await provider.identify("pi_1")).toMatchObject({ providerPaymentId: "pi_1", ...metadata });
  for await (const payment of provider.paymentsSince(since, undefined)) {
    expect(payment.providerPaymentId).toMatch(/^pi_/);
  }
  let changes = 0;
  for await (const { providerPaymentId } of provider.changesSince(since)) {
    expect(providerPaymentId).not.toBe("");
    changes += 1;
  }
  expect(changes).toBeGreaterThan(0);
  expect(acceptedCalls()).toEqual([
    "GET /v1/payment_intents/pi_1",
    "GET /v1/payment_intents",
    "GET /v1/refunds",
    "GET /v1/disputes",
  ]);
});

it("verifies events without a request", async () => {
  const { webhooks } = stripeClient(mock.url);
  const object = { object: "charge", id: "ch_1", payment_intent: "pi_1" };
  const payload = JSON.stringify({ id: "evt_1", object: "event", type: "charge.updated", data: { object } });
  const signature = webhooks.generateTestHeaderString({ payload, secret: "whsec_test" });
  expect(await provider.readEvent(payload, signature)).toEqual({ providerPaymentId: "pi_1" });
  expect(await provider.readEvent(`${payload} `, signature)).toBe("unsigned");
  expect(acceptedCalls()).toEqual([]);
});

it("a wrong value and an unknown parameter are rejected, so that these tests would see them", async () => {
  const payment = paymentWith({ providerPaymentId: "pi_1" });
  expect((await provider.refund(payment, "rfd_1", 0.5)).status).toBe("failed");
  const unknown = { email: "ada@example.com", mail: "ada@example.com" };
  await expect(stripeClient(mock.url).customers.create(unknown)).rejects.toThrow("additional properties");
  expect(mock.calls.map(({ request, status }) => [request, status])).toEqual([
    ["GET /v1/refunds", 200],
    ["POST /v1/refunds", 400],
    ["POST /v1/customers", 400],
  ]);
});
