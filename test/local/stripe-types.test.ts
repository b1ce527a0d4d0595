import type { Stripe } from "stripe";
import { expect, it } from "vitest";

import type { ObjectOf } from "../../infra/local/stripe/objects.ts";
import type {
  CustomerParams,
  PaymentParams,
  RefundParams,
  SessionParams,
} from "../../infra/local/stripe/params.ts";
import { card, checkout, saveCard, sendForm, startStripe } from "../support/stripe.ts";

/** The types of Stripe's package by the names of its objects. */
interface Real {
  balance_transaction: Stripe.BalanceTransaction;
  charge: Stripe.Charge;
  "checkout.session": Stripe.Checkout.Session;
  customer: Stripe.Customer;
  dispute: Stripe.Dispute;
  payment_intent: Stripe.PaymentIntent;
  payment_method: Stripe.PaymentMethod;
  refund: Stripe.Refund;
  setup_intent: Stripe.SetupIntent;
}

/** Fields of the local objects that Stripe's do not have; only a few objects lack `livemode`, and no response has `params`. */
type UnknownFields = {
  [Kind in keyof Real]: Exclude<keyof ObjectOf<Kind>, keyof Real[Kind] | "livemode" | "params">;
}[keyof Real];

/** The parameters of each request, here and in Stripe's package. */
interface Params {
  customers: [keyof typeof CustomerParams.shape, keyof Stripe.CustomerCreateParams];
  payments: [keyof PaymentParams, keyof Stripe.PaymentIntentCreateParams];
  refunds: [keyof RefundParams, keyof Stripe.RefundCreateParams];
  sessions: [keyof SessionParams, keyof Stripe.Checkout.SessionCreateParams];
}

type UnknownParams = { [Name in keyof Params]: Exclude<Params[Name][0], Params[Name][1]> }[keyof Params];

type AllKnown<Unknown> = [Unknown] extends [never] ? true : Unknown;

/** The local objects leave out fields of Stripe's, at any depth. */
type Parts<Whole> = Whole extends object ? { [Name in keyof Whole]?: Parts<Whole[Name]> } : Whole;

it("objects and parameters have the names and the types of Stripe's package", async () => {
  // The compiler's error here shows an unknown name.
  const known: [AllKnown<UnknownFields>, AllKnown<UnknownParams>] = [true, true];
  expect(known).toEqual([true, true]);

  const stripe = await startStripe();
  await saveCard(stripe, card.number);
  const { url } = await stripe.client.checkout.sessions.create(checkout);
  await sendForm(url ?? "", { ...card, number: "4000000000000259" });
  stripe.clock.now += 2_000;
  await stripe.client.disputes.list();
  const other = await stripe.client.checkout.sessions.create(checkout);
  await sendForm(other.url ?? "", card);
  const [payment] = (await stripe.client.paymentIntents.list()).data;
  await stripe.client.refunds.create({ payment_intent: payment?.id ?? "" });
  const all = stripe.server.account.objects;
  // The compiler compares the types of all fields that an object has.
  const objects: { [Kind in keyof Real]: Parts<Real[Kind]> | undefined } = {
    balance_transaction: all.all("balance_transaction")[0],
    charge: all.all("charge")[0],
    "checkout.session": all.all("checkout.session")[0],
    customer: all.all("customer")[0],
    dispute: all.all("dispute")[0],
    payment_intent: all.all("payment_intent")[0],
    payment_method: all.all("payment_method")[0],
    refund: all.all("refund")[0],
    setup_intent: all.all("setup_intent")[0],
  };
  for (const [name, object] of Object.entries(objects)) expect(object, name).toMatchObject({ object: name });
});
