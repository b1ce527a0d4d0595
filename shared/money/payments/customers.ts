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

/** The name of an account that is not known, such as that of a customer of a release up to 0.4.0. */
const unknownAccount = "unknown";

function customersOf({ customerId, customerIds }: BillingRecord): Readonly<Record<string, string>> {
  return customerIds ?? (customerId === undefined ? {} : { [unknownAccount]: customerId });
}

/** Returns the customer of an organization in an account. One of an unknown account may be there. */
export function customerIn(billing: BillingRecord, account = unknownAccount): string | undefined {
  const customers = customersOf(billing);
  return customers[account] ?? customers[unknownAccount];
}

/**
 * Calls the provider with its customer of an organization. Makes one if there is none in the account of the keys, or if the
 * provider does not have it any more.
 * @throws ApiError PAYMENT_PROVIDER_UNAVAILABLE
 */
export async function withCustomer<Result>(
  billing: BillingRecord,
  call: (provider: PaymentProvider, customerId: string, account: string | undefined) => Promise<Result>,
): Promise<Result> {
  return withProvider(async (provider) => {
    const account = await provider.account();
    const first = customerIn(billing, account) ?? (await newCustomer(provider, billing, account));
    try {
      return await call(provider, first, account);
    } catch (error) {
      if (ProviderUnavailableError.rejectedBy(error) !== "customer") throw error;
      return call(provider, await newCustomer(provider, billing, account, first), account);
    }
  });
}

/** Makes the customer of an organization. @returns the customer that another call has stored first, if there is one */
async function newCustomer(
  provider: PaymentProvider,
  billing: BillingRecord,
  account = unknownAccount,
  lostId?: string,
): Promise<string> {
  const { organizationId, customerId } = billing;
  const made = await provider.createCustomer(organizationId, lostId);
  const customerIds = { ...customersOf(billing), [account]: made };
  const change = { set: { entity: "billing", organizationId, customerId: made, customerIds } } as const;
  const requires: Requirements<"billing"> =
    customerId === undefined ? { absent: ["customerId"] } : { is: { customerId } };
  const saved = await updateItem(BillingRecord, updateOf(keys.billing(organizationId), change, requires));
  return customerIn(saved.applied ? saved.item : await readBilling(organizationId), account) ?? made;
}

/**
 * Checks that the customer of an organization has saved a card.
 * @returns the account of the card
 * @throws ApiError VALIDATION_ERROR
 */
export async function checkCard(billing: BillingRecord, methodId: string): Promise<string | undefined> {
  const found = await withCustomer(billing, async (provider, customerId, account) => {
    const methods = await provider.listMethods(customerId);
    return { isSaved: methods.some(({ id }) => id === methodId), account };
  });
  if (found.isSaved) return found.account;
  throw invalidField("paymentMethodId", "must be one of `GET /v1/payment-methods`");
}
