import { setImmediate } from "node:timers/promises";

import { Stripe } from "stripe";
import { onTestFinished } from "vitest";
import * as z from "zod/mini";

import {
  startStripe as startServer,
  type LocalStripe,
  type StripeOptions,
} from "../../infra/local/stripe/server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "./webhook-receiver.ts";

const webhookSecret = "whsec_test";

/** A provider of a test, its official client, and what its webhooks send. */
export interface TestStripe {
  readonly server: LocalStripe;
  readonly client: Stripe;
  readonly receiver: WebhookReceiver;
  /** The provider's time in milliseconds, which the test can set. */
  readonly clock: { now: number };
}

/** Returns Stripe's own client of a local provider. */
export function stripeClient(url: string, key = "sk_test_1"): Stripe {
  const { hostname, port } = new URL(url);
  return new Stripe(key, { host: hostname, port, protocol: "http", maxNetworkRetries: 0, telemetry: false });
}

/** Starts a provider for one test. */
export async function startStripe(
  options: Partial<StripeOptions> = {},
  answer: (call: number) => number = () => 204,
): Promise<TestStripe> {
  const clock = { now: Date.now() };
  const receiver = await startWebhookReceiver(answer);
  const server = await startServer({
    webhookUrl: receiver.url,
    webhookSecret,
    now: () => clock.now,
    log: () => undefined,
    ...options,
  });
  onTestFinished(async () => {
    await server.stop();
    await receiver.stop();
  });
  return { server, client: stripeClient(server.url), receiver, clock };
}

const Event = z.object({
  id: z.string(),
  type: z.string(),
  created: z.number(),
  data: z.object({ object: z.looseObject({ id: z.string() }) }),
});
type Event = z.infer<typeof Event>;

/** The events that have come, with their signatures verified, the oldest first. */
export async function eventsOf({ client, receiver }: TestStripe, count: number): Promise<Event[]> {
  await receiver.waitForCalls(count);
  await setImmediate();
  return receiver.calls
    .map(({ body, headers }) => {
      const signature = String(headers["stripe-signature"]);
      client.webhooks.constructEvent(body, signature, webhookSecret);
      return Event.parse(JSON.parse(body));
    })
    .toSorted((a, b) => a.created - b.created);
}

/** Fields of the checkout page. */
export const card = {
  number: "4242 4242 4242 4242",
  expiry: "12/40",
  cvc: "123",
  name: "Ada Lovelace",
  country: "GB",
};

/** Sends a form of the provider's pages, as a browser does. @returns the page, or where it leads */
export async function sendForm(
  url: string,
  fields: Readonly<Record<string, string>>,
): Promise<{ readonly location: string | undefined; readonly html: string }> {
  const response = await fetch(url, {
    method: "POST",
    body: new URLSearchParams(fields),
    redirect: "manual",
  });
  const location = response.headers.get("location");
  const html = await response.text();
  return { location: location === null ? undefined : new URL(location, url).href, html };
}

/** Parameters of a checkout over 59.50. */
export const checkout = {
  mode: "payment",
  line_items: [
    {
      quantity: 1,
      price_data: { currency: "eur", unit_amount: 5_000, product_data: { name: "SMS balance" } },
    },
    { quantity: 1, price_data: { currency: "eur", unit_amount: 950, product_data: { name: "Tax 19 %" } } },
  ],
  success_url: "https://example.com/paid?session={CHECKOUT_SESSION_ID}",
  cancel_url: "https://example.com/cancelled",
  metadata: { paymentId: "pay_1" },
} as const satisfies Stripe.Checkout.SessionCreateParams;

/** Saves a card in a checkout. @returns the customer and the payment method */
export async function saveCard(
  { client }: TestStripe,
  number: string,
): Promise<{ customer: string; payment_method: string }> {
  const { id: customer } = await client.customers.create();
  const { url } = await client.checkout.sessions.create({
    mode: "setup",
    customer,
    success_url: checkout.success_url,
  });
  const { location = "" } = await sendForm(url ?? "", { ...card, number });
  if (location.endsWith("/authenticate")) await sendForm(location, { outcome: "complete" });
  const { data } = await client.customers.listPaymentMethods(customer);
  return { customer, payment_method: data[0]?.id ?? "" };
}

/** Pays a checkout. @returns the payment */
export async function payCheckout(
  { client }: TestStripe,
  number = card.number,
  customer?: string,
): Promise<Stripe.PaymentIntent> {
  const input: Stripe.Checkout.SessionCreateParams =
    customer === undefined ? checkout : { ...checkout, customer };
  const { id, url } = await client.checkout.sessions.create(input);
  await sendForm(url ?? "", { ...card, number });
  const { payment_intent } = await client.checkout.sessions.retrieve(id);
  return client.paymentIntents.retrieve(idOf(payment_intent));
}

/** Returns the id of an object, which may be expanded. */
export function idOf(reference: string | { readonly id: string } | null | undefined): string {
  return (typeof reference === "string" ? reference : reference?.id) ?? "none";
}

/** Returns the error of a call that has to fail. */
export async function errorOf(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Stripe.errors.StripeError) return error;
    throw error;
  }
  throw new Error("the call succeeded");
}
