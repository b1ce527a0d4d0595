import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";

import {
  card,
  checkout,
  saveCard,
  sendForm,
  startStripe,
  stripeClient,
  type TestStripe,
} from "../support/stripe.ts";

const { errors } = Stripe;

/** Pays a checkout. @returns the payment */
async function pay(
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

function idOf(reference: string | { readonly id: string } | null | undefined): string {
  return (typeof reference === "string" ? reference : reference?.id) ?? "none";
}

async function errorOf(call: Promise<unknown>): Promise<Stripe.errors.StripeError> {
  try {
    await call;
  } catch (error) {
    if (error instanceof errors.StripeError) return error;
    throw error;
  }
  throw new Error("the call succeeded");
}

describe("customers", () => {
  it("are created with metadata, read and listed", async () => {
    const { client } = await startStripe();
    const created = await client.customers.create({
      email: "ada@example.com",
      name: "Ada",
      metadata: { organizationId: "org_1", "a b": "c&d=é" },
    });
    expect(created).toMatchObject({
      id: expect.stringMatching(/^cus_/),
      object: "customer",
      livemode: false,
      email: "ada@example.com",
      metadata: { organizationId: "org_1", "a b": "c&d=é" },
    });
    await client.customers.create();
    expect(await client.customers.retrieve(created.id)).toMatchObject({ id: created.id, name: "Ada" });
    expect((await client.customers.list({ email: "ada@example.com" })).data).toHaveLength(1);
  });
});

describe("a checkout", () => {
  it("is open until it is paid, and has its payment with the charge and the fee", async () => {
    const stripe = await startStripe();
    const { client, server } = stripe;
    const { id: customer } = await client.customers.create();
    const expires_at = Math.floor(stripe.clock.now / 1_000) + 3_600;
    const session = await client.checkout.sessions.create({
      ...checkout,
      customer,
      client_reference_id: "pay_1",
      expires_at,
      allowed_payment_method_types: ["card"],
      payment_intent_data: { metadata: { paymentId: "pay_1" }, setup_future_usage: "off_session" },
    });
    expect(session).toMatchObject({
      object: "checkout.session",
      url: `${server.url}/checkout/${session.id}`,
      status: "open",
      payment_status: "unpaid",
      amount_total: 5_950,
      currency: "eur",
      payment_intent: null,
      client_reference_id: "pay_1",
      expires_at,
    });
    expect(session).not.toHaveProperty("params");
    await sendForm(session.url ?? "", { ...card, email: "ada@example.com" });

    const paid = await client.checkout.sessions.retrieve(session.id, {
      expand: ["payment_intent.latest_charge.balance_transaction", "customer"],
    });
    expect(paid).toMatchObject({
      status: "complete",
      payment_status: "paid",
      url: null,
      customer: { id: customer, object: "customer" },
      customer_details: { name: "Ada Lovelace", email: "ada@example.com", address: { country: "GB" } },
      payment_intent: {
        id: expect.stringMatching(/^pi_/),
        status: "succeeded",
        amount: 5_950,
        amount_received: 5_950,
        currency: "eur",
        customer,
        metadata: { paymentId: "pay_1" },
        setup_future_usage: "off_session",
        latest_charge: {
          paid: true,
          amount_refunded: 0,
          metadata: { paymentId: "pay_1" },
          balance_transaction: { type: "charge", amount: 5_950, fee: 203, net: 5_747 },
        },
      },
    });
    const { data } = await client.customers.listPaymentMethods(customer, { type: "card" });
    expect(data).toMatchObject([{ type: "card", card: { last4: "4242", exp_month: 12, exp_year: 2_040 } }]);
  });

  it("does not save the card unless that is requested", async () => {
    const stripe = await startStripe();
    const { id: customer } = await stripe.client.customers.create();
    expect((await pay(stripe, card.number, customer)).status).toBe("succeeded");
    expect((await stripe.client.customers.listPaymentMethods(customer)).data).toEqual([]);
  });

  it("saves a card without a payment", async () => {
    const stripe = await startStripe();
    const { customer, payment_method } = await saveCard(stripe, card.number);
    const { data } = await stripe.client.checkout.sessions.list({ customer });
    expect(data).toMatchObject([
      { status: "complete", payment_status: "no_payment_required", amount_total: null },
    ]);
    const setup_intent = await stripe.client.setupIntents.retrieve(idOf(data[0]?.setup_intent));
    expect(setup_intent).toMatchObject({
      status: "succeeded",
      usage: "off_session",
      customer,
      payment_method,
    });
    expect(await stripe.client.paymentMethods.retrieve(payment_method)).toMatchObject({ customer });
    await stripe.client.paymentMethods.detach(payment_method);
    expect(await stripe.client.paymentMethods.retrieve(payment_method)).toMatchObject({ customer: null });
    const error = await errorOf(stripe.client.paymentMethods.detach(payment_method));
    expect(error).toBeInstanceOf(errors.StripeInvalidRequestError);
  });

  it("expires when it is requested to, or in time", async () => {
    const { client, clock } = await startStripe();
    const { id } = await client.checkout.sessions.create(checkout);
    expect(await client.checkout.sessions.expire(id)).toMatchObject({ status: "expired", url: null });
    expect((await errorOf(client.checkout.sessions.expire(id))).statusCode).toBe(400);
    const later = await client.checkout.sessions.create(checkout);
    clock.now += 86_400_000 - 1_001;
    expect((await client.checkout.sessions.retrieve(later.id)).status).toBe("open");
    clock.now += 1_001;
    expect((await client.checkout.sessions.retrieve(later.id)).status).toBe("expired");
  });

  it("keeps what was paid before it expired", async () => {
    const stripe = await startStripe();
    const { id, status } = await pay(stripe);
    expect(status).toBe("succeeded");
    stripe.clock.now += 2 * 86_400_000;
    expect((await stripe.client.paymentIntents.retrieve(id)).status).toBe("succeeded");
    expect((await stripe.client.checkout.sessions.list({ payment_intent: id })).data[0]?.status).toBe(
      "complete",
    );
  });

  it("must expire within half an hour to a day", async () => {
    const { client, clock } = await startStripe();
    const at = Math.floor(clock.now / 1_000);
    for (const expires_at of [at + 1_799, at + 86_401]) {
      const error = await errorOf(client.checkout.sessions.create({ ...checkout, expires_at }));
      expect(error).toMatchObject({ statusCode: 400, param: "expires_at" });
    }
  });
});

describe("a charge of a saved card", () => {
  const amount = 2_000;
  const input = {
    amount,
    currency: "usd",
    confirm: true,
    off_session: true,
    metadata: { paymentId: "pay_2" },
  };

  it("succeeds without the cardholder", async () => {
    const stripe = await startStripe();
    const saved = await saveCard(stripe, card.number);
    const intent = await stripe.client.paymentIntents.create({
      ...input,
      ...saved,
      expand: ["latest_charge.balance_transaction"],
    });
    expect(intent).toMatchObject({
      status: "succeeded",
      amount_received: amount,
      payment_method: saved.payment_method,
      latest_charge: { balance_transaction: { fee: 88 } },
    });
    const listed = await stripe.client.paymentIntents.list({ customer: saved.customer, created: { gte: 1 } });
    expect(listed.data.map(({ id }) => id)).toEqual([intent.id]);
  });

  it.each([
    { number: "4000000000000341", code: "card_declined", decline_code: "generic_decline" },
    {
      number: "4000002760003184",
      code: "authentication_required",
      decline_code: "authentication_required",
    },
  ])(
    "is declined with $code, which leaves a payment without money",
    async ({ number, code, decline_code }) => {
      const stripe = await startStripe();
      const error = await errorOf(
        stripe.client.paymentIntents.create({ ...input, ...(await saveCard(stripe, number)) }),
      );
      expect(error).toBeInstanceOf(errors.StripeCardError);
      expect(error).toMatchObject({ statusCode: 402, code, decline_code });
      const id = idOf(error.payment_intent);
      const failed = {
        status: "requires_payment_method",
        amount_received: 0,
        last_payment_error: { type: "card_error", code, decline_code },
      };
      expect(error.payment_intent).toMatchObject(failed);
      expect(await stripe.client.paymentIntents.retrieve(id)).toMatchObject(failed);
      const charge = await stripe.client.charges.retrieve(error.charge ?? "");
      expect(charge).toMatchObject({ paid: false, status: "failed", failure_code: code, payment_intent: id });
      expect((await errorOf(stripe.client.refunds.create({ payment_intent: id }))).statusCode).toBe(400);

      expect(await stripe.client.paymentIntents.cancel(id)).toMatchObject({ status: "canceled" });
      const again = await errorOf(stripe.client.paymentIntents.cancel(id));
      expect(again).toMatchObject({ statusCode: 400, code: "payment_intent_unexpected_state" });
    },
  );

  it("requires a card of that customer", async () => {
    const stripe = await startStripe();
    const { customer, payment_method } = await saveCard(stripe, card.number);
    const other = await saveCard(stripe, card.number);
    const create = async (method: string) =>
      errorOf(stripe.client.paymentIntents.create({ ...input, customer, payment_method: method }));
    const wrong = { statusCode: 400, code: "resource_missing", param: "payment_method" };
    expect(await create(other.payment_method)).toMatchObject(wrong);
    expect(await create("pm_0")).toMatchObject(wrong);
    await stripe.client.paymentMethods.detach(payment_method);
    expect(await create(payment_method)).toMatchObject(wrong);
    expect((await stripe.client.paymentIntents.list()).data).toEqual([]);
  });

  it("is not what a checkout's payment can be cancelled by", async () => {
    const stripe = await startStripe();
    const { id, url } = await stripe.client.checkout.sessions.create(checkout);
    await sendForm(url ?? "", { ...card, number: "4000000000000002" });
    const { payment_intent } = await stripe.client.checkout.sessions.retrieve(id);
    const error = await errorOf(stripe.client.paymentIntents.cancel(idOf(payment_intent)));
    expect(error.code).toBe("payment_intent_unexpected_state");
    await stripe.client.checkout.sessions.expire(id);
    expect((await stripe.client.paymentIntents.retrieve(idOf(payment_intent))).status).toBe("canceled");
  });
});

describe("refunds", () => {
  it("pay back parts until nothing is left", async () => {
    const stripe = await startStripe();
    const { id: payment_intent } = await pay(stripe);
    const metadata = { refundId: "rfd_1" };
    const refund = await stripe.client.refunds.create({ payment_intent, amount: 950, metadata });
    expect(refund).toMatchObject({
      object: "refund",
      status: "succeeded",
      amount: 950,
      currency: "eur",
      metadata,
    });
    const tooMuch = await errorOf(stripe.client.refunds.create({ payment_intent, amount: 5_001 }));
    expect(tooMuch).toMatchObject({ statusCode: 400, param: "amount" });
    expect((await stripe.client.refunds.create({ payment_intent })).amount).toBe(5_000);
    const none = await errorOf(stripe.client.refunds.create({ payment_intent }));
    expect(none).toMatchObject({ statusCode: 400, code: "charge_already_refunded" });
    const { latest_charge } = await stripe.client.paymentIntents.retrieve(payment_intent, {
      expand: ["latest_charge"],
    });
    expect(latest_charge).toMatchObject({ refunded: true, amount_refunded: 5_950 });
    const { data } = await stripe.client.refunds.list({
      payment_intent,
      expand: ["data.balance_transaction"],
    });
    expect(data).toMatchObject([
      { amount: 5_000, balance_transaction: { amount: -5_000, fee: 0 } },
      { amount: 950, balance_transaction: { type: "refund", amount: -950 } },
    ]);
    const since = Math.floor(stripe.clock.now / 1_000);
    expect((await stripe.client.refunds.list({ created: { gte: since } })).data).toHaveLength(2);
    expect((await stripe.client.refunds.list({ created: { gte: since + 1 } })).data).toEqual([]);
  });

  it("can be pending, and can fail later", async () => {
    const stripe = await startStripe();
    const { client, clock } = stripe;
    const slow = await client.refunds.create({
      payment_intent: (await pay(stripe, "4000 0000 0000 7726")).id,
    });
    const failing = await client.refunds.create({
      payment_intent: (await pay(stripe, "4000 0000 0000 5126")).id,
    });
    expect([slow.status, failing.status]).toEqual(["pending", "succeeded"]);
    clock.now += 2_000;
    expect((await client.refunds.retrieve(slow.id)).status).toBe("succeeded");
    expect((await client.refunds.retrieve(failing.id)).status).toBe("failed");
    const { latest_charge } = await client.paymentIntents.retrieve(idOf(failing.payment_intent), {
      expand: ["latest_charge"],
    });
    expect(latest_charge).toMatchObject({ refunded: false, amount_refunded: 0 });
  });
});

describe("disputes", () => {
  async function dispute(stripe: TestStripe): Promise<Stripe.Dispute> {
    const { id: payment_intent } = await pay(stripe, "4000 0000 0000 0259");
    expect((await stripe.client.disputes.list({ payment_intent })).data).toEqual([]);
    stripe.clock.now += 2_000;
    const { data } = await stripe.client.disputes.list({ payment_intent, created: { gte: 1 } });
    expect(data).toMatchObject([
      {
        id: expect.stringMatching(/^dp_/),
        status: "needs_response",
        amount: 5_950,
        balance_transactions: [{ amount: -5_950, fee: 1_500, net: -7_450 }],
      },
    ]);
    return stripe.client.disputes.retrieve(idOf(data[0]));
  }

  async function close({ server }: TestStripe, id: string, status: string): Promise<Response> {
    return fetch(`${server.url}/v1/test/disputes/${id}`, {
      method: "POST",
      headers: { authorization: "Bearer sk_test_1" },
      body: new URLSearchParams({ status }),
    });
  }

  it("open a moment after the payment, and can be won", async () => {
    const stripe = await startStripe();
    const { id, payment_intent } = await dispute(stripe);
    const refund = stripe.client.refunds.create({ payment_intent: idOf(payment_intent) });
    expect((await errorOf(refund)).code).toBe("charge_disputed");
    expect((await close(stripe, id, "won")).status).toBe(200);
    expect(await stripe.client.disputes.retrieve(id)).toMatchObject({
      status: "won",
      balance_transactions: [{ net: -7_450 }, { amount: 5_950, fee: 0 }],
    });
    expect((await close(stripe, id, "lost")).status).toBe(400);
    expect((await stripe.client.refunds.create({ payment_intent: idOf(payment_intent) })).amount).toBe(5_950);
  });

  it("can be lost, and then leave nothing to refund", async () => {
    const stripe = await startStripe();
    const { id, payment_intent, charge } = await dispute(stripe);
    expect((await close(stripe, id, "maybe")).status).toBe(400);
    expect((await close(stripe, id, "lost")).status).toBe(200);
    expect(await stripe.client.disputes.retrieve(id)).toMatchObject({ status: "lost", charge });
    expect(await stripe.client.charges.retrieve(idOf(charge))).toMatchObject({ disputed: true });
    const refund = stripe.client.refunds.create({ payment_intent: idOf(payment_intent) });
    expect((await errorOf(refund)).code).toBe("charge_disputed");
    stripe.clock.now += 10_000;
    expect((await stripe.client.disputes.list({ payment_intent: idOf(payment_intent) })).data).toHaveLength(
      1,
    );
  });
});

describe("idempotency", () => {
  it("the same request under a key gets the first response, success or decline", async () => {
    const stripe = await startStripe();
    const options = { idempotencyKey: "charge-1" };
    const input = { amount: 100, currency: "usd", confirm: true, off_session: true };
    const saved = await saveCard(stripe, card.number);
    const first = await stripe.client.paymentIntents.create({ ...input, ...saved }, options);
    expect(await stripe.client.paymentIntents.create({ ...input, ...saved }, options)).toEqual(first);

    const failing = await saveCard(stripe, "4000000000000341");
    const declined = { idempotencyKey: "charge-2" };
    const ids = [];
    for (let count = 0; count < 2; count += 1) {
      const error = await errorOf(stripe.client.paymentIntents.create({ ...input, ...failing }, declined));
      ids.push(idOf(error.payment_intent));
    }
    expect(ids[1]).toBe(ids[0]);
    expect((await stripe.client.paymentIntents.list()).data).toHaveLength(2);
  });

  it("another request under the key is an error", async () => {
    const { client } = await startStripe();
    const options = { idempotencyKey: "customer-1" };
    await client.customers.create({ metadata: { a: "1" } }, options);
    const error = await errorOf(client.customers.create({ metadata: { a: "2" } }, options));
    expect(error).toBeInstanceOf(errors.StripeIdempotencyError);
    expect(error.statusCode).toBe(400);
    expect((await client.customers.list()).data).toHaveLength(1);
  });

  it("a rejected request does not use up its key, and a key is free after a day", async () => {
    const { client, clock } = await startStripe();
    const options = { idempotencyKey: "session-1" };
    await errorOf(client.checkout.sessions.create({ ...checkout, customer: "cus_0" }, options));
    const first = await client.checkout.sessions.create(checkout, options);
    clock.now += 86_400_000 - 1_000;
    expect((await client.checkout.sessions.create(checkout, options)).id).toBe(first.id);
    clock.now += 1_000;
    expect((await client.checkout.sessions.create(checkout, options)).id).not.toBe(first.id);
  });
});

describe("lists", () => {
  it("have pages, the newest first, which the client follows", async () => {
    const { client } = await startStripe();
    const ids: string[] = [];
    for (let count = 0; count < 12; count += 1) ids.unshift((await client.customers.create()).id);
    const first = await client.customers.list();
    expect(first).toMatchObject({ object: "list", url: "/v1/customers", has_more: true });
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 10));
    const rest = await client.customers.list({ starting_after: ids[9] ?? "", limit: 2 });
    expect(rest.data.map(({ id }) => id)).toEqual(ids.slice(10));
    expect(rest.has_more).toBe(false);
    const all: string[] = [];
    for await (const { id } of client.customers.list({ limit: 5 })) all.push(id);
    expect(all).toEqual(ids);
    expect((await errorOf(client.customers.list({ starting_after: "cus_0" }))).code).toBe("resource_missing");
    expect((await errorOf(client.customers.list({ limit: 101 }))).param).toBe("limit");
    const unknown = await errorOf(client.customers.list({ ending_before: ids[0] ?? "" }));
    expect(unknown).toMatchObject({ statusCode: 400, message: "Received unknown parameter: ending_before" });
  });
});

describe("errors", () => {
  it("a key is required", async () => {
    const { server } = await startStripe();
    const call = errorOf(stripeClient(server.url, "pk_test_1").customers.list());
    expect(await call).toBeInstanceOf(errors.StripeAuthenticationError);
    expect((await fetch(`${server.url}/v1/customers`)).status).toBe(401);
    expect((await stripeClient(server.url, "rk_test_1").customers.list()).data).toEqual([]);
  });

  it("unknown objects and paths are not found", async () => {
    const { client } = await startStripe();
    expect(await errorOf(client.paymentIntents.retrieve("pi_0"))).toMatchObject({
      statusCode: 404,
      code: "resource_missing",
      message: "No such payment_intent: 'pi_0'",
    });
    const { id } = await client.customers.create();
    expect((await errorOf(client.refunds.retrieve(id))).statusCode).toBe(404);
    expect((await errorOf(client.customers.listPaymentMethods("cus_0"))).statusCode).toBe(404);
    for (const call of [
      client.products.list(),
      client.customers.del(id),
      client.products.create({ name: "a" }),
    ]) {
      const error = await errorOf(call);
      expect(error).toBeInstanceOf(errors.StripeInvalidRequestError);
      expect(error).toMatchObject({
        statusCode: 404,
        message: expect.stringContaining("Unrecognized request URL"),
      });
    }
  });

  it.each<[string, string, Stripe.Checkout.SessionCreateParams]>([
    ["parameter_unknown", "locale", { ...checkout, locale: "de" }],
    ["parameter_missing", "success_url", { mode: "payment", line_items: [...checkout.line_items] }],
    ["parameter_invalid", "success_url", { ...checkout, success_url: "javascript:alert(1)" }],
    [
      "parameter_invalid",
      "line_items[0][price_data][unit_amount]",
      {
        ...checkout,
        line_items: [{ price_data: { currency: "usd", unit_amount: 1.5, product_data: { name: "a" } } }],
      },
    ],
  ])("a wrong parameter has the code %s and its name %s", async (code, param, input) => {
    const { client } = await startStripe();
    const error = await errorOf(client.checkout.sessions.create(input));
    expect(error).toBeInstanceOf(errors.StripeInvalidRequestError);
    expect(error).toMatchObject({ statusCode: 400, code, param });
  });

  it("only references can be expanded", async () => {
    const stripe = await startStripe();
    const { id } = await pay(stripe);
    for (const each of ["status", "nonsense", "latest_charge.amount_x"]) {
      const error = await errorOf(stripe.client.paymentIntents.retrieve(id, { expand: [each] }));
      expect(error).toMatchObject({
        statusCode: 400,
        message: `This property cannot be expanded (${each}).`,
      });
    }
  });

  it("names of parameters cannot reach what all objects inherit", async () => {
    const { server } = await startStripe();
    const response = await fetch(`${server.url}/v1/customers`, {
      method: "POST",
      headers: { authorization: "Bearer sk_test_1" },
      body: "metadata[__proto__]=x&__proto__[polluted]=1&constructor[prototype][polluted]=1",
    });
    expect(response.status).toBe(400);
    expect({}).not.toHaveProperty("polluted");
  });
});
