import { ApiError } from "../../api/contract/errors.ts";
import type { AddPaymentMethodRequest, PaymentMethod } from "../../api/contract/payments.ts";
import { paymentMethodKinds, readBilling } from "./billing-record.ts";
import { countProviderCall, customerIn, withCustomer } from "./customers.ts";
import { consoleUrl } from "./links.ts";
import { ProviderUnavailableError } from "./provider.ts";
import { withProvider } from "./providers.ts";

/** Lists the saved cards of an organization, newest first. @throws ApiError PAYMENT_PROVIDER_UNAVAILABLE */
export async function listPaymentMethods(organizationId: string): Promise<PaymentMethod[]> {
  const billing = await readBilling(organizationId);
  const { autoRecharge } = billing;
  if (billing.customerId === undefined) return [];
  const methods = await withProvider(async (provider) => {
    const customerId = customerIn(billing, await provider.account());
    if (customerId === undefined) return [];
    return provider.listMethods(customerId).catch((error: unknown) => {
      // The next payment makes another customer, who has no cards yet.
      if (ProviderUnavailableError.rejectedBy(error) === "customer") return [];
      throw error;
    });
  });
  const used =
    autoRecharge?.isEnabled === true ? (autoRecharge.paymentMethodId ?? methods[0]?.id) : undefined;
  return methods.map((method) => ({ ...method, isUsedForAutoRecharge: method.id === used }));
}

/**
 * Opens the provider's page that saves a card.
 * @throws ApiError PAYMENT_METHOD_DISABLED, PAYMENT_PROVIDER_UNAVAILABLE
 */
export async function addPaymentMethod(
  organizationId: string,
  { returnUrl = consoleUrl() }: AddPaymentMethodRequest,
): Promise<{ checkoutUrl: string }> {
  if (!paymentMethodKinds().includes("card")) throw new ApiError("PAYMENT_METHOD_DISABLED");
  await countProviderCall(organizationId);
  const open = withCustomer(await readBilling(organizationId), async (provider, customerId) =>
    provider.createSetup(organizationId, customerId, returnUrl),
  );
  return { checkoutUrl: await open };
}

/**
 * Removes a saved card. Auto-recharge fails without one, and notifies the customer.
 * @throws ApiError NOT_FOUND, PAYMENT_PROVIDER_UNAVAILABLE
 */
export async function removePaymentMethod(
  organizationId: string,
  id: string,
): Promise<{ id: string; deleted: true }> {
  const billing = await readBilling(organizationId);
  if (billing.customerId === undefined) throw new ApiError("NOT_FOUND");
  const isRemoved = await withProvider(async (provider) => {
    const customerId = customerIn(billing, await provider.account());
    return customerId !== undefined && (await provider.removeMethod(customerId, id));
  });
  if (!isRemoved) throw new ApiError("NOT_FOUND");
  return { id, deleted: true };
}
