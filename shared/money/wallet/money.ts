import { decimalsOf } from "../../api/contract/currencies.ts";
import { invalidField } from "../../api/contract/errors.ts";
import { config } from "../../platform/config.ts";

/** Money is stored as a whole number of millionths of the currency unit, which adds without rounding. */
const microsPerUnit = 1_000_000;

/** Converts an amount in currency units, for example 0.0075, to micro-units. It rounds to six decimals. */
export function microsOf(amount: number): number {
  return Math.round(amount * microsPerUnit);
}

/** Converts micro-units to an amount in currency units, exact to the micro-unit for every safe integer. */
export function amountOf(micros: number): number {
  return micros / microsPerUnit;
}

/** Formats micro-units exactly: `9.992100 USD`. */
export function moneyText(micros: number): string {
  return `${decimalText(micros)} ${config.currency()}`;
}

/** Formats micro-units exactly, without the currency: `9.992100`. */
export function decimalText(micros: number): string {
  const size = Math.abs(micros);
  const fraction = size % microsPerUnit;
  const whole = (size - fraction) / microsPerUnit;
  return `${micros < 0 ? "-" : ""}${whole}.${String(fraction).padStart(6, "0")}`;
}

/**
 * Parses a decimal number, for example `12.5`, as micro-units, without rounding.
 * @returns undefined for any other text, for more than six decimals, and above the largest exact number
 */
export function microsOfText(text: string): number | undefined {
  const [, whole, fraction = ""] = /^(\d{1,10})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const micros = Number(whole) * microsPerUnit + Number(fraction.padEnd(6, "0"));
  return Number.isSafeInteger(micros) ? micros : undefined;
}

/**
 * Converts the amount in a field of a request to micro-units.
 * @throws ApiError VALIDATION_ERROR for an amount with more decimals than the currency
 */
export function microsOfField(path: string, amount: number): number {
  const micros = microsOf(amount);
  if (micros % microsOfMinorUnits(1) === 0) return micros;
  throw invalidField(path, `must have at most ${decimalsOf(config.currency())} decimals`);
}

/**
 * Converts micro-units to minor units of the currency, such as cents.
 * @throws Error for an amount with more decimals than the currency
 */
export function minorUnitsOf(micros: number): number {
  if (micros % microsOfMinorUnits(1) !== 0)
    throw new Error(`${moneyText(micros)} has a part of a minor unit`);
  return micros / microsOfMinorUnits(1);
}

/** Converts minor units of the currency to micro-units. */
export function microsOfMinorUnits(minorUnits: number): number {
  return minorUnits * (microsPerUnit / 10 ** decimalsOf(config.currency()));
}
