import type { UsageRow } from "../../messages/counts/figures.ts";

/*
 * Decides which spending of a customer is unusual. A day in a country is compared with the customer's own last weeks there. So
 * growth, and the campaign of each week, stay usual. The first traffic in a country is not, because a fraud begins so.
 */

/** The days before a day that it is compared with: five weeks, which include the campaign of the last month. */
export const comparedDays = 35;

/** Less than this on a day is never unusual. */
export const leastMessages = 50;
const leastMicros = 250_000;

/** The usual amount is that of the third best day, so that a day with a fraud does not hide the next one. */
const rankOfUsual = 3;

/** How many times the usual amount is unusual. */
const factor = 3;

/** Returns the usual amount of a day in micro-units. @param amounts those of each day with messages */
export function usualOf(amounts: readonly number[]): number {
  const best = amounts.toSorted((one, other) => other - one);
  return best[Math.min(rankOfUsual, best.length) - 1] ?? 0;
}

/** Whether the spending of a day so far is unusual. @param usualMicros the usual amount */
export function isUnusual(
  day: Omit<UsageRow, "feeMicros" | "name" | "segments">,
  usualMicros: number,
): boolean {
  const amountMicros = grossMicros(day);
  return day.messages >= leastMessages && amountMicros >= leastMicros && amountMicros > factor * usualMicros;
}

/** Returns the prices of messages, also of those that failed and were refunded. */
export function grossMicros({
  amountMicros,
  refundedMicros,
}: Pick<UsageRow, "amountMicros" | "refundedMicros">): number {
  return amountMicros + refundedMicros;
}
