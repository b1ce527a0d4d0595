import { now } from "../../platform/clock.ts";
import { log } from "../../platform/log.ts";
import { countMetrics } from "../../platform/metrics.ts";
import { updateItem } from "../../platform/table/write.ts";
import { readBilling } from "./billing-record.ts";
import { customerIn } from "./customers.ts";
import { ProviderUnavailableError, unpaid, withoutCard, type ProviderPayment } from "./provider.ts";
import { cardProvider } from "./providers.ts";
import { PaymentRecord, paymentUpdate } from "./record.ts";

/** Returns the state of a payment at the provider. Charges the saved card of a payment without a checkout. */
export async function stateOf(payment: PaymentRecord): Promise<ProviderPayment> {
  const { providerSessionId, providerPaymentId, checkoutExpiresAt } = payment;
  const isCharge = providerSessionId === undefined && providerPaymentId === undefined;
  try {
    return await (isCharge ? chargeOf(payment) : (await cardProvider()).read(payment));
  } catch (error) {
    const rejected = ProviderUnavailableError.rejectedBy(error);
    // The provider does not have the customer any more, and so no card.
    if (isCharge && rejected === "customer") return withoutCard;
    // The provider has no such checkout, and no one can pay there any more.
    const isOver = checkoutExpiresAt !== undefined && checkoutExpiresAt < now().toISOString();
    if (!isOver || providerPaymentId !== undefined || !isProvenMissing(payment, error)) throw error;
    if (payment.status === "pending") reportMissing(payment);
    return { ...unpaid, status: "expired", currency: "" };
  }
}

/**
 * Charges the saved card of a payment. The account and the newest card are stored first, so that a repetition charges the
 * same card, and never that of another account.
 */
async function chargeOf(payment: PaymentRecord): Promise<ProviderPayment> {
  const billing = await readBilling(payment.organizationId);
  // Only a customer has saved cards.
  if (billing.customerId === undefined) return withoutCard;
  const provider = await cardProvider();
  const { status, providerAccount = await provider.account() } = payment;
  const customerId = customerIn(billing, providerAccount);
  if (customerId === undefined) return withoutCard;
  const newest = async (): Promise<string | undefined> =>
    status === "pending" ? (await provider.listMethods(customerId))[0]?.id : undefined;
  const { paymentMethodId = await newest() } = payment;
  if (paymentMethodId === undefined) return withoutCard;
  const isStored =
    payment.paymentMethodId !== undefined &&
    (providerAccount === payment.providerAccount || status !== "pending");
  if (isStored) return provider.charge({ payment, customerId });
  const change = { paymentMethodId, ...(providerAccount === undefined ? {} : { providerAccount }) };
  const chosen = await updateItem(PaymentRecord, paymentUpdate(payment, change));
  if (!chosen.applied) throw new Error("another change of the payment came first");
  return provider.charge({ payment: chosen.item, customerId });
}

/** Whether the account of a payment does not have it. That another or an unknown account does not have it proves nothing. */
export function isProvenMissing({ providerAccount }: PaymentRecord, error: unknown): boolean {
  return providerAccount !== undefined && ProviderUnavailableError.rejectedBy(error) === "missing";
}

/** Reports a payment that the provider does not have any more. */
export function reportMissing({ organizationId, id: paymentId, providerPaymentId }: PaymentRecord): void {
  countMetrics({ PaymentDifferences: 1 });
  log.error("payment.missing", { organizationId, paymentId, providerPaymentId });
}
