import countryToCurrency from "country-to-currency";

import type { PaymentSettings } from "./contract/payment-settings.ts";

/**
 * Returns the currency in which documents state their tax a second time: that of the seller's country
 * (Directive 2006/112/EC, Art. 230); undefined when it is the currency of the stage.
 */
export function localCurrencyOf(seller: PaymentSettings["seller"], currency: string): string | undefined {
  const local = new Map(Object.entries(countryToCurrency)).get(seller?.country ?? "");
  return local === currency ? undefined : local;
}
