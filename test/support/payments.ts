import { expect, vi } from "vitest";

import type { Payment } from "../../shared/api/contract/payments.ts";
import type { Customer } from "./api.ts";
import { patience } from "./patience.ts";
import { card, sendForm } from "./stripe.ts";

/** Pays at a checkout of the local provider. @returns the payment when it has its invoice */
export async function payByCard(
  { client }: Customer,
  amount: number,
  number: string = card.number,
): Promise<Payment> {
  const { id, checkoutUrl = "" } = await client.createPayment({ body: { amount } });
  await sendForm(checkoutUrl, { ...card, number });
  return vi.waitFor(async () => {
    const payment = await client.getPayment({ params: { id } });
    expect(payment.invoiceNumber).toBeDefined();
    return payment;
  }, patience);
}

/** Saves a card of a customer at the local provider. */
export async function saveCardOf({ client }: Customer, number: string = card.number): Promise<void> {
  const { checkoutUrl } = await client.addPaymentMethod();
  await sendForm(checkoutUrl, { ...card, number });
}
