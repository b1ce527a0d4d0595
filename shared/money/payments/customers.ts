import { invalidField } from "../../api/contract/errors.ts";
import { hourMs } from "../../platform/clock.ts";
import { consume } from "../../platform/limits/sliding-window.ts";
import type { Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { BillingRecord, readBilling } from "./billing-record.ts";
import { ProviderUnavailableError, type PaymentProvider } from "./provider.ts";
import { withProvider } from "./providers.ts";

/** The most pages and charges of an organization at the provider. Thieves test stolen cards with such calls. */
const providerCalls = { name: "payments", max: 30, windowMs: hourMs };

/** Counts a page or a charge at the provider. @throws ApiError RATE_LIMITED */
export async function countProviderCall(organizationId: string): Promise<void> {
  await consume(providerCalls, organizationId);
}

/**
 * Calls the provider with its customer of an organization. Makes one if there is none, or if the provider does not have it
 * any more. Then it was deleted there, or the keys are of another account.
 * @throws ApiError PAYMENT_PROVIDER_UNAVAILABLE
 */
export async function withCustomer<Result>(
  { organizationId, customerId }: BillingRecord,
  call: (provider: PaymentProvider, customerId: string) => Promise<Result>,
): Promise<Result> {
  return withProvider(async (provider) => {
    const known = customerId ?? (await newCustomer(provider, organizationId));
    try {
      return await call(provider, known);
    } catch (error) {
      if (ProviderUnavailableError.rejectedBy(error) !== "customer") throw error;
      return call(provider, await newCustomer(provider, organizationId, known));
    }
  });
}

/** Makes the customer of an organization. @returns the customer that another call has stored first, if there is one */
async function newCustomer(
  provider: PaymentProvider,
  organizationId: string,
  lostId?: string,
): Promise<string> {
  const made = await provider.createCustomer(organizationId, lostId);
  const change = { set: { entity: "billing", organizationId, customerId: made } } as const;
  const requires: Requirements<"billing"> =
    lostId === undefined ? { absent: ["customerId"] } : { is: { customerId: lostId } };
  const saved = await updateItem(BillingRecord, updateOf(keys.billing(organizationId), change, requires));
  return (saved.applied ? saved.item : await readBilling(organizationId)).customerId ?? made;
}

/** @throws ApiError VALIDATION_ERROR when the customer has not saved this card */
export async function checkCard(billing: BillingRecord, methodId: string): Promise<void> {
  const methods = await withCustomer(billing, async (provider, id) => provider.listMethods(id));
  if (!methods.some(({ id }) => id === methodId)) {
    throw invalidField("paymentMethodId", "must be one of `GET /v1/payment-methods`");
  }
}
