import { ApiError } from "../../api/contract/errors.ts";
import { ProviderUnavailableError, type PaymentProvider } from "./provider.ts";

/** Returns the provider of card payments. */
export async function cardProvider(): Promise<PaymentProvider> {
  // A separate file of the bundle, so that only functions that call the provider load it.
  return (await import("./stripe.ts")).stripeProvider;
}

/**
 * Calls the provider of card payments for a customer who waits.
 * @throws ApiError PAYMENT_PROVIDER_UNAVAILABLE
 */
export async function withProvider<Result>(
  call: (provider: PaymentProvider) => Promise<Result>,
): Promise<Result> {
  try {
    return await call(await cardProvider());
  } catch (error) {
    if (!ProviderUnavailableError.isThis(error)) throw error;
    throw new ApiError("PAYMENT_PROVIDER_UNAVAILABLE", { cause: error });
  }
}
