import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";

import {
  card,
  checkout,
  errorOf,
  idOf,
  payCheckout,
  saveCard,
  sendForm,
  startStripe,
} from "../support/stripe.ts";

const { errors } = Stripe;

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
    expect((await payCheckout(stripe, card.number, customer)).status).toBe("succeeded");
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
    const { id, status } = await payCheckout(stripe);
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
