import { problemsOfParty } from "../../../shared/money/invoices/characters.ts";
import { localCurrencyOf } from "../../../shared/money/payments/local-currency.ts";
import { vatNumberProblem } from "../../../shared/money/payments/vat-numbers.ts";
import stripeMinimum from "../stripe-minimum.json" with { type: "json" };
import type { Stage } from "./stage.ts";

/** The currencies in which 5 and 1,000, the default bounds of a payment, are usual amounts. */
const likeDollars = "AUD CAD CHF EUR GBP NZD SGD USD";

type Terms = Pick<Stage, "currency" | "payments">;

/** Yields what is wrong with the settings of payments in the currency of a stage: the field, and the message. */
export function* paymentProblems({ currency, payments }: Terms): Generator<[string[], string]> {
  const { cards, bankTransfer, seller, minimum, maximum } = payments;
  const hasDefaults = likeDollars.includes(currency) || (cards === "none" && bankTransfer === undefined);
  for (const [field, amount] of Object.entries({ minimum, maximum })) {
    if (amount === undefined && !hasDefaults)
      yield [[field], `must be stated, because the default is not for ${currency}`];
  }
  // https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts has no other currencies.
  const least = new Map(Object.entries(stripeMinimum)).get(currency) ?? 0;
  if (cards === "stripe" && Number(minimum ?? least) < least)
    yield [["minimum"], `must be at least ${least} ${currency}, which Stripe requires`];
  for (const { path, message } of seller === undefined ? [] : problemsOfParty(seller)) {
    yield [["seller", path], message];
  }
  const problem = seller?.vatNumber && vatNumberProblem(seller.vatNumber, seller.country);
  if (problem !== undefined) yield [["seller", "vatNumber"], problem];
}

/** Warns that invoices of a month lack the tax in the currency of the seller's country; undefined if they do not. */
export function exchangeRateWarning({ currency, payments }: Terms, month: string): string | undefined {
  const { seller, tax } = payments;
  const local = localCurrencyOf(seller, currency);
  const hasTax = Object.values(tax.rates).some((rate = 0) => rate > 0);
  if (local === undefined || !hasTax || tax.exchangeRates[month] !== undefined) return undefined;
  return `payments.tax.exchangeRates has no rate of ${month}: its invoices will lack the tax in ${local}, and never change.`;
}
