import type { Payment } from "../../api/contract/payments.ts";
import { minuteMs } from "../../platform/clock.ts";
import { consume } from "../../platform/limits/sliding-window.ts";
import { log } from "../../platform/log.ts";
import { processPayment } from "./process.ts";
import { readPayment, toApiPayment, type PaymentKey } from "./record.ts";

/** The most reads of an organization's payments at the provider. Beyond it, the stored state is returned. */
const refreshes = { name: "payment-refreshes", max: 120, windowMs: minuteMs };

/**
 * Returns a payment. A pending one is first brought to its state at the provider. So a customer who returns from a checkout
 * does not wait for the provider's event.
 * @throws ApiError NOT_FOUND
 */
export async function getPayment(key: PaymentKey): Promise<Payment> {
  const payment = await readPayment(key);
  if (payment.status !== "pending" || payment.method !== "card") return toApiPayment(payment);
  try {
    await consume(refreshes, key.organizationId);
    return toApiPayment((await processPayment(key)) ?? payment);
  } catch (error) {
    // The event of the provider, or the next visit, brings it there.
    log.warn("payment.not_refreshed", { ...key, error });
    return toApiPayment(await readPayment(key));
  }
}
