import type { Stripe } from "stripe";

import { dayMs, epochSeconds, hourMs, now } from "../../platform/clock.ts";
import { minorUnitsOf } from "../wallet/money.ts";
import type { Order } from "./provider.ts";
import { metadataOf } from "./stripe-state.ts";

/** How long a customer can pay at a checkout. Stripe accepts half an hour to a day. */
const checkoutMs = hourMs;

/** A checkout that replaces an automatic charge waits for the customer to read the email. */
const recoveryCheckoutMs = dayMs - hourMs;

/** Returns the parameters of the checkout of a payment. */
export function checkoutOf({
  payment,
  customerId: customer,
  returnUrl,
  saveCard,
}: Order): Stripe.Checkout.SessionCreateParams {
  const { id, currency, amountMicros, taxMicros, taxRate, origin } = payment;
  const metadata = metadataOf(payment);
  const line = (name: string, micros: number) => ({
    quantity: 1,
    price_data: {
      currency: currency.toLowerCase(),
      unit_amount: minorUnitsOf(micros),
      product_data: { name },
    },
  });
  const lifeMs = origin === "checkout" ? checkoutMs : recoveryCheckoutMs;
  return {
    mode: "payment",
    customer,
    client_reference_id: id,
    allowed_payment_method_types: ["card"],
    line_items: [
      line("SMS balance", amountMicros),
      ...(taxMicros === 0 ? [] : [line(`Tax ${taxRate} %`, taxMicros)]),
    ],
    metadata,
    payment_intent_data: { metadata, ...(saveCard ? { setup_future_usage: "off_session" } : {}) },
    expires_at: epochSeconds(new Date(now().getTime() + lifeMs)),
    success_url: returnUrl,
    cancel_url: returnUrl,
  };
}
