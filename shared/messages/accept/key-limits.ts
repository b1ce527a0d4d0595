import { ApiError } from "../../api/contract/errors.ts";
import { microsOf } from "../../money/wallet/money.ts";
import { capReached } from "../../money/wallet/spending-limits.ts";
import { limitsOf, type Actor, type KeyLimits } from "../../platform/auth/actor.ts";
import { reserveToday, usesToday } from "../../platform/limits/daily.ts";
import type { Reservation } from "./reservations.ts";

/*
 * The limits of an API key: the recipients, the hours, and a budget for each day (UTC). A send reserves its price in the
 * budget before the debit, so that parallel sends never exceed it. A send that was certainly not charged, or whose debit was
 * returned immediately, releases its reservation. A crash, or an unknown outcome, leaves it: without a repeat under the same
 * name, the rest of the day has less. Refunds release nothing, so that messages which fail cannot be repeated without end.
 */

/** The name of the daily budgets of keys. They are counted in millionths of the currency. */
export const keyBudgetName = "key-budget";

/**
 * Rejects an API key with limits, for scheduled campaigns: they send with the rights of the organization.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function requireNoLimits(actor: Actor): void {
  if (limitsOf(actor) === undefined) return;
  throw new ApiError("INSUFFICIENT_SCOPE", { message: "An API key with limits cannot start a campaign." });
}

/**
 * Checks a message against the limits of the key that sends it.
 * @param at when the message is to be sent
 * @throws ApiError RECIPIENT_NOT_ALLOWED_FOR_KEY, OUTSIDE_KEY_HOURS
 */
export function checkKeyLimits({ allowedRecipients, hours }: KeyLimits, to: string, at: Date): void {
  if (allowedRecipients?.some((beginning) => to.startsWith(beginning)) === false) {
    throw new ApiError("RECIPIENT_NOT_ALLOWED_FOR_KEY");
  }
  if (hours !== undefined && !isWithin(hours, at)) throw new ApiError("OUTSIDE_KEY_HOURS");
}

function isWithin({ from, to, timeZone }: NonNullable<KeyLimits["hours"]>, at: Date): boolean {
  const format = { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const time = new Intl.DateTimeFormat("en-GB", format).format(at);
  return from < to ? from <= time && time < to : from <= time || time < to;
}

/**
 * Reserves an amount in the daily budget of a key, if it has one.
 * @param name what the amount is for, for repeats after an attempt that died
 * @throws ApiError KEY_BUDGET_REACHED
 */
export async function reserveBudget(
  limits: KeyLimits | undefined,
  amountMicros: number,
  name?: string,
): Promise<readonly Reservation[]> {
  if (limits?.dailyBudget === undefined) return [];
  const limit = { name: keyBudgetName, max: microsOf(limits.dailyBudget) };
  const reserved = await reserveToday(limit, limits.budgetKeyId, amountMicros, name);
  if ("left" in reserved) throw capReached("KEY_BUDGET_REACHED");
  return [{ ...reserved, staysInDoubt: true }];
}

/**
 * Checks an amount that will be spent in parts.
 * @param name what its first part is: a reservation of it by an attempt that died is a part of the amount
 * @throws ApiError KEY_BUDGET_REACHED if the budget does not cover it now
 */
export async function checkKeyBudget(
  { dailyBudget, budgetKeyId }: KeyLimits,
  amountMicros: number,
  name?: string,
): Promise<void> {
  if (dailyBudget === undefined) return;
  const usedMicros = await usesToday(keyBudgetName, budgetKeyId, name);
  if (usedMicros + amountMicros > microsOf(dailyBudget)) throw capReached("KEY_BUDGET_REACHED");
}
