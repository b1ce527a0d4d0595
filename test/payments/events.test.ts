import { Stripe } from "stripe";
import { afterAll, beforeAll, expect, it, vi } from "vitest";

import type { LocalGateway } from "../../infra/local/gateway.ts";
import { Webhooks } from "../../infra/local/stripe/webhooks.ts";
import { StripeKeys } from "../../shared/money/payments/stripe-client.ts";
import { readSecretText } from "../../shared/platform/aws/read-secret.ts";
import { epochSeconds, now } from "../../shared/platform/clock.ts";
import { environmentNames } from "../../shared/platform/config.ts";
import { newId } from "../../shared/platform/ids.ts";
import { call, Customer, errorOf, type ApiResponse } from "../support/api.ts";
import { operator } from "../support/operator.ts";
import { startOperatedGateway } from "../support/own-gateway.ts";
import { patience } from "../support/patience.ts";
import { card, sendForm } from "../support/stripe.ts";

/* Events as Stripe's package signs them. The local provider sends none. */

const daySeconds = 86_400;

let gateway: LocalGateway;
let stop: () => Promise<void>;
let secret: string;

beforeAll(async () => {
  vi.spyOn(Webhooks.prototype, "send").mockResolvedValue();
  ({ gateway, stop } = await startOperatedGateway());
  // The settings of the stage, which commands take from its stack.
  await operator(["version"]);
  const text = await readSecretText({ SecretId: process.env[environmentNames.paymentSecretId] ?? "" });
  secret = StripeKeys.parse(JSON.parse(text)).webhookSecret;
});
afterAll(async () => {
  vi.restoreAllMocks();
  await stop();
});

function eventOf(type: string, object: object): string {
  return JSON.stringify({ id: "evt_1", object: "event", type, data: { object } });
}

function signatureOf(payload: string, options: { secret?: string; timestamp?: number } = {}): string {
  return Stripe.webhooks.generateTestHeaderString({ payload, secret, ...options });
}

async function post(raw: string, signature = signatureOf(raw)): Promise<ApiResponse> {
  const headers = { "stripe-signature": signature };
  return call("/v1/payments/events/stripe", { raw, headers, baseUrl: gateway.url });
}

const unknownPayment = eventOf("checkout.session.completed", {
  object: "checkout.session",
  mode: "payment",
  payment_intent: "pi_unknown",
  metadata: { organizationId: newId("org"), paymentId: newId("pay") },
});

it.each([
  ["of an unknown payment", unknownPayment],
  [
    "of a payment that the gateway did not make",
    eventOf("payment_intent.succeeded", { object: "payment_intent", id: "pi_other", metadata: {} }),
  ],
  ["of an uninteresting type", eventOf("customer.created", { object: "customer", id: "cus_1" })],
  ["of a type that does not exist yet", eventOf("moon.landed", { object: "moon", id: "moon_1" })],
])("an event %s is accepted", async (_, event) => {
  expect(await post(event)).toMatchObject({ status: 200, body: { data: { received: true } } });
});

it.each([
  ["with another secret", unknownPayment, () => signatureOf(unknownPayment, { secret: "whsec_other" })],
  ["of another body", `${unknownPayment} `, () => signatureOf(unknownPayment)],
  [
    "of a day ago",
    unknownPayment,
    () => signatureOf(unknownPayment, { timestamp: epochSeconds(now()) - daySeconds }),
  ],
  ["without a time", unknownPayment, () => signatureOf(unknownPayment).replace(/^t=\d+,/, "")],
  ["that is empty", unknownPayment, () => ""],
  ["that is no signature", unknownPayment, () => "t=now,v1=0"],
])("a signature %s is rejected", async (_, body, signature) => {
  expect(errorOf(await post(body, signature()))).toEqual({ status: 400, code: "INVALID_SIGNATURE" });
});

it("an event without a signature, and one for another provider, are rejected", async () => {
  const unsigned = await call("/v1/payments/events/stripe", { raw: unknownPayment, baseUrl: gateway.url });
  expect(errorOf(unsigned)).toEqual({ status: 400, code: "INVALID_SIGNATURE" });
  const headers = { "stripe-signature": signatureOf(unknownPayment) };
  const other = await call("/v1/payments/events/other", {
    raw: unknownPayment,
    headers,
    baseUrl: gateway.url,
  });
  expect(other.status).toBe(404);
});

it("an event above 512 KB is rejected, and one of 512 KB is not", async () => {
  const bytes = 512 * 1024;
  const padded = (length: number): string => unknownPayment.padEnd(length, " ");
  expect((await post(padded(bytes))).status).toBe(200);
  expect(errorOf(await post(padded(bytes + 1)))).toEqual({ status: 413, code: "PAYLOAD_TOO_LARGE" });
});

it("an event brings a payment to its end, once, however often and in whatever order events come", async () => {
  const customer = await Customer.register({ baseUrl: gateway.url });
  const { client, organizationId } = customer;
  const { id: paymentId, checkoutUrl = "" } = await client.createPayment({ body: { amount: 50 } });
  const metadata = { organizationId, paymentId };
  const session = { object: "checkout.session", mode: "payment", payment_intent: null, metadata };
  const expired = eventOf("checkout.session.expired", session);
  const completed = eventOf("checkout.session.completed", session);

  // The content of an event is not used: the customer has not paid.
  expect((await post(completed)).status).toBe(200);
  await sendForm(checkoutUrl, card);
  const [intent] = gateway.stripe?.account.objects.all("payment_intent").slice(-1) ?? [];
  const charge = { object: "charge", id: "ch_1", payment_intent: intent?.id };
  const succeeded = { object: "payment_intent", id: intent?.id, metadata };
  const events = [
    expired,
    eventOf("charge.updated", charge),
    eventOf("payment_intent.succeeded", succeeded),
    completed,
    completed,
  ];
  const responses = await Promise.all(events.map(async (event) => post(event)));
  expect(responses.map(({ status }) => status)).toEqual(events.map(() => 200));
  await vi.waitFor(async () => expect(await customer.balance()).toBe(50), patience);

  expect((await post(completed)).status).toBe(200);
  const shown = await vi.waitFor(async () => {
    const payment = await client.getPayment({ params: { id: paymentId } });
    expect(payment).toMatchObject({ status: "succeeded", invoiceNumber: expect.any(String) });
    return payment;
  }, patience);
  expect(await customer.ledger()).toMatchObject([{ type: "payment", amount: 50 }]);
  const { rows } = await client.listInvoices();
  expect(rows.map((invoice) => invoice.id)).toEqual([shown.invoiceNumber]);
});
