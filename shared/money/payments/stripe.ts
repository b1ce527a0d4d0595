import { Stripe } from "stripe";

import type { PaymentFailure } from "../../api/contract/payments.ts";
import { epochSeconds, hourMs, secondMs } from "../../platform/clock.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";
import { minorUnitsOf } from "../wallet/money.ts";
import { ProviderUnavailableError, unpaid, withoutCard, type PaymentProvider } from "./provider.ts";
import type { PaymentRecord } from "./record.ts";
import { checkoutOf } from "./stripe-checkout.ts";
import { stageAccount } from "./stripe-client.ts";
import {
  accountOf,
  expanded,
  findCharge,
  idOf,
  listedOf,
  metadataOf,
  noticeOfEvent,
  refundOf,
  stateOfCharge,
  stateOfIntent,
} from "./stripe-state.ts";

/*
 * Stripe as the payment provider. The metadata of each payment has our ids, so that a payment is found without our record.
 * Stripe remembers an idempotency key for a day at least; a call that may come later first looks for its earlier result.
 * Stripe rejects a key with other parameters, so a key names each parameter that can differ in a repetition.
 */

/** The accounts of the keys. A key always has the same one, but may get the permission to read it. */
const accounts = new TtlCache<string | undefined>({ ttlMs: hourMs });

export const stripeProvider: PaymentProvider = {
  account: async () => calling(async (_, account) => account),

  createCustomer: async (organizationId, lostId) =>
    calling(async (stripe) => {
      const metadata = { organizationId };
      const key = `customer-${organizationId}`;
      const options = { idempotencyKey: lostId === undefined ? key : `${key}-after-${lostId}` };
      return (await stripe.customers.create({ metadata }, options)).id;
    }),

  createCheckout: async (order) =>
    calling(async (stripe, account) => {
      const input = checkoutOf(order);
      const { payment, customerId } = order;
      // A later repetition opens another checkout. No one knows the address of the first one.
      const session = await stripe.checkout.sessions.create(input, {
        idempotencyKey: `checkout-${payment.id}-${payment.version}-${customerId}-${input.expires_at}`,
      });
      const { id, url, expires_at } = session;
      if (url === null) throw new ProviderUnavailableError("the checkout has no address");
      return { sessionId: id, url, expiresAt: new Date(expires_at * secondMs).toISOString(), account };
    }, order.payment),

  closeCheckout: async (payment) =>
    calling(async (stripe) => {
      await stripe.checkout.sessions.expire(payment.providerSessionId ?? "").catch((error: unknown) => {
        // Stripe rejects it, because the checkout is not open.
        if (rejectedBy(error) === undefined) throw error;
      });
    }, payment),

  createSetup: async (organizationId, customer, returnUrl) =>
    calling(async (stripe) => {
      const { url } = await stripe.checkout.sessions.create({
        mode: "setup",
        customer,
        allowed_payment_method_types: ["card"],
        metadata: { organizationId },
        success_url: returnUrl,
        cancel_url: returnUrl,
      });
      if (url === null) throw new ProviderUnavailableError("the checkout has no address");
      return url;
    }),

  charge: async ({ payment, customerId: customer }) =>
    calling(async (stripe) => {
      const found = await findCharge(stripe, payment, { customer }).catch((error: unknown) => {
        if (rejectedBy(error) !== "customer") throw error;
        return undefined;
      });
      // A repeated job must not charge a payment that has failed.
      const isOpen = payment.status === "pending";
      const made = found ?? (isOpen ? await charge(stripe, payment, customer) : "no_payment_method");
      // A customer that was deleted or replaced since may have been charged before.
      const intent = typeof made === "string" ? ((await findCharge(stripe, payment, {})) ?? made) : made;
      if (typeof intent === "string") return { ...withoutCard, failure: intent };
      // A charge that only the cardholder can complete is cancelled, so that a checkout cannot double it.
      if (intent.status === "requires_action" || intent.status === "requires_payment_method") {
        await stripe.paymentIntents.cancel(intent.id);
      }
      return stateOfCharge(stripe, intent);
    }, payment),

  read: async (payment) =>
    calling(async (stripe, account) => {
      const { providerSessionId, providerPaymentId, refunds } = payment;
      if (providerPaymentId !== undefined) {
        const intent = await stripe.paymentIntents.retrieve(providerPaymentId, expanded);
        return { ...(await stateOfIntent(stripe, intent, refunds)), account };
      }
      if (providerSessionId === undefined) throw new Error("the payment is unknown to Stripe");
      const session = await stripe.checkout.sessions.retrieve(providerSessionId, {
        expand: ["payment_intent.latest_charge.balance_transaction"],
      });
      const { payment_intent: intent } = session;
      const isPaid = typeof intent === "object" && intent !== null && intent.status === "succeeded";
      if (isPaid) return { ...(await stateOfIntent(stripe, intent, refunds)), account };
      const status = session.status === "expired" ? "expired" : "pending";
      return { ...unpaid, status, currency: (session.currency ?? "").toUpperCase(), account };
    }, payment),

  refund: async (payment, refundId, amount) =>
    calling(async (stripe) => {
      const payment_intent = payment.providerPaymentId ?? "";
      for await (const each of stripe.refunds.list({ payment_intent, limit: 100 })) {
        if (each.metadata?.["refundId"] === refundId) return refundOf(each);
      }
      const metadata = { refundId, paymentId: payment.id, organizationId: payment.organizationId };
      try {
        const input = { payment_intent, amount, metadata };
        return refundOf(await stripe.refunds.create(input, { idempotencyKey: refundId }));
      } catch (error) {
        // Stripe rejects it for good, for example because the charge is disputed or already refunded.
        if (rejectedBy(error) !== "request") throw error;
        return { id: refundId, refundId, minorUnits: amount, status: "failed" };
      }
    }, payment),

  listMethods: async (customer) =>
    calling(async (stripe) => {
      const { data } = await stripe.customers.listPaymentMethods(customer, { type: "card", limit: 20 });
      return data.flatMap(({ id, card, created }) =>
        card === undefined
          ? []
          : {
              id,
              brand: card.brand,
              last4: card.last4,
              expiryMonth: card.exp_month,
              expiryYear: card.exp_year,
              createdAt: new Date(created * secondMs).toISOString(),
            },
      );
    }),

  removeMethod: async (customer, methodId) =>
    calling(async (stripe) => {
      try {
        const method = await stripe.paymentMethods.retrieve(methodId);
        if (idOf(method.customer) !== customer) return false;
        await stripe.paymentMethods.detach(methodId);
        return true;
      } catch (error) {
        if (rejectedBy(error) === "missing") return false;
        throw error;
      }
    }),

  identify: async (providerPaymentId) =>
    calling(async (stripe) => listedOf(await stripe.paymentIntents.retrieve(providerPaymentId))),

  paymentsSince: async function* paymentsSince(since, providerAccount) {
    const stripe = await calling(async (client) => client, { providerAccount });
    for await (const intent of stripe.paymentIntents.list({
      created: { gte: epochSeconds(since) },
      limit: 100,
    })) {
      yield listedOf(intent);
    }
  },

  changesSince: async function* changesSince(since) {
    const { stripe } = await connected();
    const input = { created: { gte: epochSeconds(since) }, limit: 100 };
    for await (const refund of stripe.refunds.list(input)) {
      yield { providerPaymentId: idOf(refund.payment_intent) };
    }
    for await (const dispute of stripe.disputes.list(input)) {
      yield { providerPaymentId: idOf(dispute.payment_intent) };
    }
  },

  readEvent: async (rawBody, signature) => {
    const { stripe, webhookSecret } = await connected();
    try {
      return noticeOfEvent(stripe.webhooks.constructEvent(rawBody, signature, webhookSecret));
    } catch (error) {
      if (error instanceof Stripe.errors.StripeSignatureVerificationError) return "unsigned";
      throw error;
    }
  },
};

/**
 * Calls Stripe, and hides its errors: their texts are not for customers.
 * @param payment the one that the call is about. Another account does not have it, which proves nothing.
 */
async function calling<Result>(
  call: (stripe: Stripe, account: string | undefined) => Promise<Result>,
  { providerAccount }: Pick<PaymentRecord, "providerAccount"> = {},
): Promise<Result> {
  const { stripe, secretKey } = await connected();
  try {
    const account = await accounts.read(async () => accountOf(stripe, secretKey), secretKey);
    if (providerAccount === undefined || providerAccount === account) return await call(stripe, account);
    const names = `${providerAccount}, and the keys are those of ${account ?? "an unknown account"}`;
    throw new ProviderUnavailableError(`the payment belongs to ${names}`, {}, "account");
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    const message = `Stripe reported ${error.code ?? error.type}`;
    throw new ProviderUnavailableError(message, { cause: error }, rejectedBy(error));
  }
}

/** Returns what Stripe rejects for good; undefined for errors that pass, such as a conflict with a concurrent request. */
function rejectedBy(error: unknown): ProviderUnavailableError["rejected"] {
  if (!(error instanceof Stripe.errors.StripeInvalidRequestError) || error.statusCode === 409)
    return undefined;
  const isOfCustomer = error.param === "customer" || error.message.startsWith("No such customer");
  if (error.code !== "resource_missing") return "request";
  if (isOfCustomer) return "customer";
  return error.statusCode === 404 ? "missing" : "request";
}

async function connected(): ReturnType<typeof stageAccount.connect> {
  return stageAccount.connect().catch((error: unknown) => {
    throw new ProviderUnavailableError("the keys of Stripe cannot be read", { cause: error });
  });
}

/** @returns the failure when Stripe rejects the charge, for example because the saved card does not exist any more */
async function charge(
  stripe: Stripe,
  payment: PaymentRecord,
  customer: string,
): Promise<PaymentFailure | Stripe.PaymentIntent> {
  const { id, totalMicros, currency, paymentMethodId } = payment;
  try {
    return await stripe.paymentIntents.create(
      {
        amount: minorUnitsOf(totalMicros),
        currency: currency.toLowerCase(),
        customer,
        payment_method: paymentMethodId ?? "",
        allowed_payment_method_types: ["card"],
        off_session: true,
        confirm: true,
        metadata: { ...metadataOf(payment), isOffSession: "true" },
        ...expanded,
      },
      // Another customer does not have the card, so only one can be charged.
      { idempotencyKey: `charge-${id}-${customer}` },
    );
  } catch (error) {
    // The bank's rejection is an error with the charge in it.
    if (error instanceof Stripe.errors.StripeCardError && error.payment_intent !== undefined) {
      return error.payment_intent;
    }
    const rejected = rejectedBy(error);
    if (rejected === undefined) throw error;
    // The customer has removed the card.
    const isCardMissing = rejected === "customer" || Object(error).param === "payment_method";
    return isCardMissing ? "no_payment_method" : "provider_error";
  }
}
