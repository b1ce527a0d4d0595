import { Stripe } from "stripe";
import { vi } from "vitest";

import { readBilling } from "../../shared/money/payments/billing-record.ts";
import { newPayment } from "../../shared/money/payments/create.ts";
import { paymentPut, type PaymentKey } from "../../shared/money/payments/record.ts";
import { recordRefund } from "../../shared/money/payments/refund.ts";
import { newId } from "../../shared/platform/ids.ts";
import { keys } from "../../shared/platform/table/keys.ts";
import { transact } from "../../shared/platform/table/transact.ts";
import { updateOf } from "../../shared/platform/table/write.ts";
import { stripe } from "./connected-stripe.ts";
import { saveCard } from "./stripe.ts";
import { openWallet } from "./wallets.ts";

/** The numbers of a card that is charged, and of one that needs its holder. */
export const numbers = { accepted: "4242424242424242", authenticated: "4000002760003184" };

interface StripeCustomer {
  readonly organizationId: string;
  readonly customerId: string;
  readonly card: string;
}

/** Opens an organization whose customer at Stripe has saved a card. */
export async function openCustomer(
  number = numbers.accepted,
  balanceMicros = 1_000_000,
): Promise<StripeCustomer> {
  const { customer: customerId, payment_method: card } = await saveCard(stripe(), number);
  const organizationId = await openWallet(balanceMicros);
  await setCustomer(organizationId, customerId);
  return { organizationId, customerId, card };
}

/** Records the customer at Stripe of an organization. */
export async function setCustomer(organizationId: string, customerId: string): Promise<void> {
  const set = { entity: "billing", organizationId, customerId } as const;
  await transact({ billing: updateOf(keys.billing(organizationId), { set }) });
}

/** Records a payment of 50.00 by the saved card of a new customer, whose wallet is empty. */
export async function openCharge(
  number?: string,
): Promise<StripeCustomer & { readonly key: PaymentKey; readonly createdAt: string }> {
  const customer = await openCustomer(number, 0);
  const { organizationId, card: paymentMethodId } = customer;
  const billing = await readBilling(organizationId);
  const method = { method: "card", origin: "saved_card", paymentMethodId } as const;
  const payment = newPayment({ organizationId, ...method, amountMicros: 50_000_000, billing });
  await transact({ payment: paymentPut(payment) });
  const { id: paymentId, createdAt } = payment;
  return { ...customer, key: { organizationId, paymentId }, createdAt };
}

/** Records a refund of 20.00. */
export async function openRefund(key: PaymentKey): Promise<void> {
  await recordRefund(key, { id: newId("rfd"), amountMicros: 20_000_000, reason: "Refund" });
}

/** The number of charges of a customer at Stripe. */
export async function chargesOf(customer: string): Promise<number> {
  return (await stripe().client.paymentIntents.list({ customer })).data.length;
}

/** An error with which Stripe rejects a request. */
export function rejection(fields: {
  readonly param?: string;
  readonly code?: string;
  readonly statusCode: number;
}): Error {
  const type = "invalid_request_error";
  return new Stripe.errors.StripeInvalidRequestError({ type, message: "No.", ...fields });
}

/** Lets the response to the next creation of a resource get lost: Stripe has carried it out. */
export function loseNextResponse(resource: object): void {
  const create = Reflect.get(resource, "create");
  const losing = new Proxy(create, {
    apply: async (_create, client, input) => {
      Reflect.set(resource, "create", create);
      await Reflect.apply(create, client, input);
      throw new Stripe.errors.StripeConnectionError({ type: "api_error", message: "lost" });
    },
  });
  Reflect.set(resource, "create", losing);
}

/** Sets both clocks: that of the code under test, and that of Stripe. */
export function setTime(ms: number): void {
  vi.setSystemTime(ms);
  stripe().clock.now = ms;
}
