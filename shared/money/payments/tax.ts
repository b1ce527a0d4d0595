import type { BillingDetails } from "../../api/contract/billing.ts";
import { vatCountryOf } from "../invoices/vat-country.ts";
import { minorUnitsOf, microsOfMinorUnits } from "../wallet/money.ts";
import { paymentSettings } from "./settings.ts";
import { vatNumberProblem } from "./vat-numbers.ts";

/** The tax of a payment. */
export interface Tax {
  /** In percent. */
  readonly rate: number;
  /** The sentence on invoices that explains why there is none. */
  readonly note?: string | undefined;
  /** Why the VAT number of the buyer changes nothing. */
  readonly reason?: string | undefined;
}

/** Returns the country that decides a buyer's tax. A buyer without a country counts as one in the seller's. */
export function taxCountryOf(buyer: Pick<BillingDetails, "country"> | undefined): string | undefined {
  return buyer?.country ?? paymentSettings().seller?.country;
}

/**
 * Returns the tax of a buyer, by the table in the stage's file. Only a VAT number with the form and the check digits of the
 * buyer's country, abroad, lets the buyer owe the tax. Older releases have stored other numbers.
 */
export function taxOf(buyer: Pick<BillingDetails, "country" | "vatNumber"> | undefined): Tax {
  const { seller, tax } = paymentSettings();
  const country = taxCountryOf(buyer);
  if (country === undefined) return { rate: 0 };
  const vatCountry = vatCountryOf(country);
  const rates = new Map(Object.entries(tax.rates));
  const rate = rates.get(country) ?? rates.get(vatCountry) ?? 0;
  if (buyer?.vatNumber === undefined) return { rate };
  const problem = vatNumberProblem(buyer.vatNumber, country);
  if (problem !== undefined) return { rate, reason: `The VAT number has no effect. It ${problem}.` };
  const isAbroad = vatCountry !== vatCountryOf(seller?.country ?? "");
  if (isAbroad && tax.reverseCharge.some((each) => each === country || each === vatCountry)) {
    return { rate: 0, note: "Reverse charge: the recipient of the service owes the tax." };
  }
  const reason = `The VAT number does not change the tax: there is no reverse charge in ${country}.`;
  return rate === 0 ? { rate } : { rate, reason };
}

/** The rates are read to four decimals, so that the product with an amount is a whole number. */
const ratePrecision = 10_000;

/** Returns the tax on an amount, rounded to the minor unit: half a unit is rounded up. Both are in micro-units. */
export function taxMicrosOf(amountMicros: number, { rate }: Tax): number {
  const product = minorUnitsOf(amountMicros) * Math.round(rate * ratePrecision);
  return microsOfMinorUnits(Math.round(product / (100 * ratePrecision)));
}

/** An amount for the wallet, and the total with its tax. */
interface Amounts {
  readonly amountMicros: number;
  readonly totalMicros: number;
}

/**
 * Returns the part of a payment's amount that belongs to a part of its total, rounded to the minor unit.
 * @param rest what is left of the payment. The whole rest of the total has the whole rest of the amount, so that the
 *   rounded parts add up.
 */
export function netOf(totalMicros: number, payment: Amounts, rest: Amounts): number {
  if (totalMicros === rest.totalMicros) return rest.amountMicros;
  const share =
    (minorUnitsOf(totalMicros) * minorUnitsOf(payment.amountMicros)) / minorUnitsOf(payment.totalMicros);
  const shareMicros = microsOfMinorUnits(Math.round(share));
  // More than the rest is possible while a refund is recorded that the provider will reject.
  if (totalMicros > rest.totalMicros) return shareMicros;
  // Otherwise the tax of the later parts would be negative.
  const leastMicros = rest.amountMicros - (rest.totalMicros - totalMicros);
  return Math.min(Math.max(shareMicros, leastMicros), rest.amountMicros);
}

/**
 * Returns the part of a payment's total that belongs to a part of its amount, as `netOf` does in the other direction.
 * @param rest what is left of the payment. Its total covers the amounts of the later parts.
 */
export function grossOf(amountMicros: number, payment: Amounts, rest: Amounts): number {
  if (amountMicros === rest.amountMicros) return rest.totalMicros;
  const share =
    (minorUnitsOf(amountMicros) * minorUnitsOf(payment.totalMicros)) / minorUnitsOf(payment.amountMicros);
  const mostMicros = rest.totalMicros - (rest.amountMicros - amountMicros);
  return Math.min(microsOfMinorUnits(Math.round(share)), mostMicros);
}
