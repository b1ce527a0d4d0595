import { invalidField } from "../contract/errors.ts";
import { hourMs } from "../platform/clock.ts";
import { consume } from "../platform/limits/sliding-window.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem, updateOf } from "../platform/table/write.ts";
import { BillingRecord } from "./billing-record.ts";
import { withProvider } from "./providers.ts";

/** The most pages and charges of an organization at the provider. Thieves test stolen cards with such calls. */
const providerCalls = { name: "payments", max: 30, windowMs: hourMs };

/** Counts a page or a charge at the provider. @throws ApiError RATE_LIMITED */
export async function countProviderCall(organizationId: string): Promise<void> {
  await consume(providerCalls, organizationId);
}

/** Returns the provider's customer of an organization, and makes one if there is none. */
export async function customerOf({ organizationId, customerId }: BillingRecord): Promise<string> {
  if (customerId !== undefined) return customerId;
  const made = await withProvider((provider) => provider.createCustomer(organizationId));
  const change = { set: { entity: "billing", organizationId }, setIfAbsent: { customerId: made } };
  const saved = await updateItem(BillingRecord, updateOf(keys.billing(organizationId), change));
  return (saved.applied ? saved.item.customerId : undefined) ?? made;
}

/** @throws ApiError VALIDATION_ERROR when the customer has not saved this card */
export async function checkCard(customerId: string, methodId: string): Promise<void> {
  const methods = await withProvider((provider) => provider.listMethods(customerId));
  if (!methods.some(({ id }) => id === methodId)) {
    throw invalidField("paymentMethodId", "must be one of `GET /v1/payment-methods`");
  }
}
