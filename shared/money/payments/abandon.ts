import { RejectedError } from "../../platform/rejected-error.ts";
import { endMissing, expire } from "./process.ts";
import { cardProvider } from "./providers.ts";
import { readPayment, type PaymentKey, type PaymentRecord } from "./record.ts";
import { endVisits } from "./schedule.ts";
import { applyStep } from "./steps.ts";

/**
 * Ends what waits for an account at the provider that the operator cannot connect any more. A pending payment expires, and
 * refunds that were not submitted return their money. If the account is connected again, it still decides.
 * @throws RejectedError for a bank transfer, and for a payment of the connected account
 */
export async function abandonPayment(key: PaymentKey): Promise<PaymentRecord> {
  const { method, providerAccount } = await readPayment(key);
  const provider = await cardProvider();
  const account = await provider.account().catch((error: unknown) => {
    // Stripe does not accept the keys of a closed account. Any other error could hide that it is the connected one.
    if (Object(Object(error).cause).statusCode === 401) return undefined;
    throw error;
  });
  if (method !== "card") throw new RejectedError("The payment is a bank transfer.");
  if (providerAccount !== undefined && providerAccount === account)
    throw new RejectedError("The payment belongs to the connected account. The gateway settles it.");
  await applyStep(key, expire);
  const ended = await endMissing(key, await readPayment(key));
  await endVisits(ended);
  return readPayment(key);
}
