import countryToCurrency from "country-to-currency";

import type { PaymentSettings } from "../../api/contract/payment-settings.ts";

/** Returns the currency of the seller's country, if it is not that of the stage (Directive 2006/112/EC, Art. 230). */
export function localCurrencyOf(seller: PaymentSettings["seller"], currency: string): string | undefined {
  const local = new Map(Object.entries(countryToCurrency)).get(seller?.country ?? "");
  return local === currency ? undefined : local;
}
