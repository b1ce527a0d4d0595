import { ApiError } from "../../api/contract/errors.ts";
import type { Payment } from "../../api/contract/payments.ts";
import { isPaused } from "../../platform/jobs/pause.ts";
import { paymentsPaused } from "./create.ts";
import { countProviderCall } from "./customers.ts";
import { expire, processPayment } from "./process.ts";
import { withProvider } from "./providers.ts";
import { readPayment, toApiPayment, type PaymentKey } from "./record.ts";
import { applyStep } from "./steps.ts";

/**
 * Ends a payment that waits for the customer: its checkout closes at the provider, or its transfer is not expected any more.
 * If the customer has paid there meanwhile, the payment has succeeded instead. A repetition returns the ended payment.
 * @throws ApiError NOT_FOUND; CONFLICT for any other payment; PAYMENT_PROVIDER_UNAVAILABLE (also during a pause), RATE_LIMITED
 */
export async function cancelPayment(key: PaymentKey): Promise<Payment> {
  const payment = await readPayment(key);
  if (payment.status === "expired") return toApiPayment(payment);
  const isCard = payment.method === "card";
  const isCharge = isCard && payment.providerSessionId === undefined;
  if (payment.status !== "pending" || isCharge) {
    throw new ApiError("CONFLICT", { message: "Only a payment that waits for you can be cancelled." });
  }
  if (await isPaused("payments")) throw paymentsPaused();
  await countProviderCall(key.organizationId);
  const ended = await withProvider(async (provider) => {
    if (isCard) await provider.closeCheckout(payment);
    else await applyStep(key, expire);
    return processPayment(key);
  });
  return toApiPayment(ended ?? payment);
}
