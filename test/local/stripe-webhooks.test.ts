import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";

import { Stripe } from "stripe";
import { expect, it, onTestFinished, vi } from "vitest";

import { listenOnLoopback } from "../../infra/local/loopback.ts";
import { patience } from "../support/patience.ts";
import { freePort } from "../support/ports.ts";
import {
  card,
  checkout,
  eventsOf,
  payCheckout,
  saveCard,
  sendForm,
  startStripe,
  type TestStripe,
} from "../support/stripe.ts";

/** The sorted names of the events. Their order is not the order in which they come, as with Stripe. */
async function namesOf(stripe: TestStripe, count: number): Promise<string[]> {
  return (await eventsOf(stripe, count)).map(({ type }) => type).toSorted();
}

it("each event has a signature of its own, which Stripe's package verifies", async () => {
  const stripe = await startStripe();
  const { id } = await payCheckout(stripe);
  const events = await eventsOf(stripe, 2);
  expect(events.find(({ type }) => type === "payment_intent.succeeded")).toMatchObject({
    id: expect.stringMatching(/^evt_/),
    data: {
      object: { id, object: "payment_intent", status: "succeeded", latest_charge: expect.any(String) },
    },
  });
  const completed = events.find(({ type }) => type === "checkout.session.completed");
  expect(completed?.data.object).toMatchObject({ payment_intent: id, metadata: { paymentId: "pay_1" } });
  expect(completed?.data.object).not.toHaveProperty("params");
  const body = stripe.receiver.calls[0]?.body ?? "";
  const { constructEvent } = stripe.client.webhooks;
  const signature = String(stripe.receiver.calls[0]?.headers["stripe-signature"]);
  const verify = (payload: string, secret: string) => () =>
    constructEvent.call(stripe.client.webhooks, payload, signature, secret);
  expect(verify(body, "whsec_other")).toThrow(Stripe.errors.StripeSignatureVerificationError);
  expect(verify(body.replace("evt_", "evt-"), "whsec_test")).toThrow(
    Stripe.errors.StripeSignatureVerificationError,
  );
  expect(new Set(events.map((event) => event.id)).size).toBe(2);
});

it("a checkout that expires, a card that is declined, and a saved card have events", async () => {
  const stripe = await startStripe();
  const { id, url } = await stripe.client.checkout.sessions.create(checkout);
  await sendForm(url ?? "", { ...card, number: "4000000000000002" });
  await stripe.client.checkout.sessions.expire(id);
  await saveCard(stripe, card.number);
  expect(await namesOf(stripe, 5)).toEqual([
    "checkout.session.completed",
    "checkout.session.expired",
    "payment_intent.canceled",
    "payment_intent.payment_failed",
    "setup_intent.succeeded",
  ]);
});

it("refunds have events when they are made, and when they end", async () => {
  const stripe = await startStripe();
  for (const number of ["4000000000007726", "4000000000005126"]) {
    await stripe.client.refunds.create({ payment_intent: (await payCheckout(stripe, number)).id });
  }
  expect((await namesOf(stripe, 8)).slice(0, 2)).toEqual(["charge.refunded", "charge.refunded"]);
  stripe.clock.now += 2_000;
  // Without a request too.
  const events = await eventsOf(stripe, 10);
  expect(
    events
      .slice(8)
      .map(({ type, data }) => `${type} ${String(data.object["status"])}`)
      .toSorted(),
  ).toEqual(["refund.failed failed", "refund.updated succeeded"]);
});

it("a dispute has events when it opens by itself, and when the bank decides", async () => {
  const stripe = await startStripe();
  const { id: payment_intent } = await payCheckout(stripe, "4000000000000259");
  await eventsOf(stripe, 2);
  stripe.clock.now += 2_000;
  const created = (await eventsOf(stripe, 3)).at(-1);
  expect(created).toMatchObject({ type: "charge.dispute.created", data: { object: { payment_intent } } });
  stripe.clock.now += 1_000;
  stripe.server.account.closeDispute(created?.data.object.id ?? "", "won");
  expect((await eventsOf(stripe, 4)).at(-1)).toMatchObject({
    type: "charge.dispute.closed",
    data: { object: { payment_intent, status: "won" } },
  });
});

it("an event is repeated until the receiver accepts it, with a new signature", async () => {
  const stripe = await startStripe({ delaysMs: [0, 1, 1] }, (call) => (call === 1 ? 500 : 204));
  const { id } = await stripe.client.checkout.sessions.create(checkout);
  await stripe.client.checkout.sessions.expire(id);
  const events = await eventsOf(stripe, 2);
  expect(events.map(({ type }) => type)).toEqual(["checkout.session.expired", "checkout.session.expired"]);
  expect(events[1]?.id).toBe(events[0]?.id);
});

it("an event is dropped and logged after the last attempt", async () => {
  const log: string[] = [];
  const options = { delaysMs: [0, 1], log: (line: string) => log.push(line) };
  const stripe = await startStripe(options, () => 404);
  const { id } = await stripe.client.checkout.sessions.create(checkout);
  await stripe.client.checkout.sessions.expire(id);
  await vi.waitFor(() => expect(log).toHaveLength(1), patience);
  expect(log[0]).toMatch(
    /^The payment provider dropped its event checkout.session.expired \(evt_\w+\): status 404$/,
  );
  expect(stripe.receiver.calls).toHaveLength(2);
});

it("a stop ends the attempts without a word", async () => {
  const log: string[] = [];
  const options = { delaysMs: [0, 60_000], log: (line: string) => log.push(line) };
  const stripe = await startStripe(options, () => 500);
  const { id } = await stripe.client.checkout.sessions.create(checkout);
  await stripe.client.checkout.sessions.expire(id);
  await stripe.receiver.waitForCalls(1);
  await stripe.server.stop();
  await setImmediate();
  expect(log).toEqual([]);
});

it("a receiver that is not up yet gets the event later", async () => {
  const port = await freePort();
  const delaysMs = Array.from({ length: 1_000 }, () => 20);
  const stripe = await startStripe({ webhookUrl: `http://127.0.0.1:${port}/`, delaysMs });
  const { id } = await stripe.client.checkout.sessions.create(checkout);
  await stripe.client.checkout.sessions.expire(id);
  const { promise, resolve } = Promise.withResolvers<string>();
  const receiver = createServer((request, response) => {
    void text(request).then(resolve);
    response.end();
  });
  await listenOnLoopback(receiver, port);
  onTestFinished(() => void receiver.close());
  expect(await promise).toContain("checkout.session.expired");
});
