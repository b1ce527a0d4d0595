import { Stripe } from "stripe";
import { describe, expect, it } from "vitest";

import {
  card,
  checkout,
  errorOf,
  idOf,
  payCheckout,
  saveCard,
  startStripe,
  stripeClient,
} from "../support/stripe.ts";

const { errors } = Stripe;

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
    const { id } = await payCheckout(stripe);
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
