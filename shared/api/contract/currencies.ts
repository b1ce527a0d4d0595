/** The currency of a stage that names none. */
export const defaultCurrency = "USD";

const withoutDecimals = ["CLP", "JPY", "KRW", "XAF", "XOF"];

/** Returns the ISO 4217 codes of the currencies that a stage can have: ISO 4217 and Stripe agree on their decimals, 0 or 2. */
export function currencies(): string[] {
  const withDecimals =
    "AED AUD BRL CAD CHF CZK DKK EUR GBP GHS HKD ILS INR KES MAD MXN MYR NGN NOK NZD PEN PHP PLN QAR RON SAR SEK SGD " +
    "THB TRY USD ZAR";
  return [...withDecimals.split(" "), ...withoutDecimals];
}

/** Returns the number of decimals of one of these currencies. */
export function decimalsOf(currency: string): 0 | 2 {
  return withoutDecimals.includes(currency) ? 0 : 2;
}
