import type { Stripe } from "stripe";
import { describe, expect, it } from "vitest";

import { errorOf, idOf, payCheckout, startStripe, type TestStripe } from "../support/stripe.ts";

describe("refunds", () => {
  it("pay back parts until nothing is left", async () => {
    const stripe = await startStripe();
    const { id: payment_intent } = await payCheckout(stripe);
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
      payment_intent: (await payCheckout(stripe, "4000 0000 0000 7726")).id,
    });
    const failing = await client.refunds.create({
      payment_intent: (await payCheckout(stripe, "4000 0000 0000 5126")).id,
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
    const { id: payment_intent } = await payCheckout(stripe, "4000 0000 0000 0259");
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
