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

/** Micro-units in words, exactly: `9.992100 USD`. */
export function moneyText(micros: number): string {
  const size = Math.abs(micros);
  const fraction = size % microsPerUnit;
  const whole = (size - fraction) / microsPerUnit;
  return `${micros < 0 ? "-" : ""}${whole}.${String(fraction).padStart(6, "0")} ${currency}`;
}

/**
 * The micro-units of a decimal number as people type it, for example `12.5`. Its digits are never rounded.
 * @returns undefined for anything else, for more than six decimals, and for more than can be kept exactly
 */
export function microsOfText(text: string): number | undefined {
  const [, whole, fraction = ""] = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const micros = Number(whole) * microsPerUnit + Number(fraction.padEnd(6, "0"));
  return Number.isSafeInteger(micros) ? micros : undefined;
}
