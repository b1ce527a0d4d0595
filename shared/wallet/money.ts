/** Money is kept as a whole number of millionths of the currency unit, which adds without rounding. */
const microsPerUnit = 1_000_000;

/** An amount in currency units, for example 0.0075, as micro-units. The decimals beyond six are not kept. */
export function microsOf(amount: number): number {
  return Math.round(amount * microsPerUnit);
}

/** Micro-units as an amount in currency units; exact to the micro-unit for every safe integer. */
export function amountOf(micros: number): number {
  return micros / microsPerUnit;
}

export const currency = "USD";
