import type { DocumentRecord } from "../invoices/record.ts";
import { localCurrencyOf } from "./local-currency.ts";
import { paymentSettings } from "./settings.ts";

/**
 * Returns the tax of a document in the currency of the seller's country. Half a minor unit is rounded up.
 * @param invoice the first one of the payment, whose rate its later documents have
 * @returns undefined without a rate of the month, because a wrong amount would be final
 */
export function localTaxOf(
  { taxMicros, currency: from }: Pick<DocumentRecord, "currency" | "taxMicros">,
  invoice: DocumentRecord | undefined,
  month: string,
): DocumentRecord["localTax"] {
  const { seller, tax } = paymentSettings();
  const present = { currency: localCurrencyOf(seller, from), exchangeRate: tax.exchangeRates[month] };
  const { currency, exchangeRate } = (invoice === undefined ? present : invoice.localTax) ?? {};
  if (taxMicros === 0 || currency === undefined || exchangeRate === undefined) return undefined;
  const [whole = "", fraction = ""] = exchangeRate.split(".");
  const format = new Intl.NumberFormat("en", { style: "currency", currency }).resolvedOptions();
  const unitMicros = 10n ** BigInt(6 - (format.maximumFractionDigits ?? 2));
  const divisor = unitMicros * 10n ** BigInt(fraction.length);
  const units = (BigInt(taxMicros) * BigInt(whole + fraction) * 2n + divisor) / (divisor * 2n);
  return { currency, micros: Number(units * unitMicros), exchangeRate };
}
