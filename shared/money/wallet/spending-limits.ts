import * as z from "zod/mini";

import { ApiError, type RateLimitStatus } from "../../api/contract/errors.ts";
import { dayMs, dayOf, now, secondMs } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { limitReached, waitSeconds, type RateLimit } from "../../platform/limits/rate-limit.ts";
import type { Changes, Requirements } from "../../platform/table/expressions.ts";
import { keys } from "../../platform/table/keys.ts";
import { updateItem, updateOf } from "../../platform/table/write.ts";
import { microsOfText } from "./money.ts";

/*
 * Spending limits: how much an organization may spend in a day (UTC), and how many messages it may send in a second.
 * A DynamoDB condition cannot add, so the wallet stores what is left of both. A debit takes its part in the same update
 * that takes the price, and sees every debit before it. The daily window is reset when a day begins; the bucket of the second is
 * refilled when it is empty and the second is over. A change of a limit removes what is left, so that no debit passes
 * before the new value is calculated. A reset moves no money and names every value that it saw: it may repeat or come late.
 */

const Limit = z.union([z.literal("none"), z.int().check(z.positive())]);

/** The fields of a wallet that hold its spending limits. */
export const spendingLimitFields = {
  /** The operator's cap for this organization, in micro-units. Without it, the cap of the stage applies. */
  operatorDailyCap: z.optional(Limit),
  /** The lower cap that the customer set. */
  customerDailyCapMicros: z.optional(z.int().check(z.positive())),
  /** The operator's rate limit for this organization. Without it, the limit of the stage applies. */
  operatorSendsPerSecond: z.optional(Limit),
  /** The day of the last reset, and what was spent on it. */
  spendDay: z.string(),
  spentTodayMicros: z.int().check(z.nonnegative()),
  /** The messages of that day and their prices, which the organization's statistics show. */
  acceptedToday: z.optional(z.int()),
  acceptedTodayMicros: z.optional(z.int()),
  /** Absent after a change of the cap, until the next debit. Negative if more was spent before. */
  spendLeftMicros: z.optional(z.int()),
  /** When the bucket of sends was filled, and what is left of it. Absent after a change of the limit. */
  paceSince: z.optional(z.string()),
  paceLeft: z.optional(z.int()),
};

const SpendingLimits = z.object({ organizationId: z.string(), ...spendingLimitFields });
type SpendingLimits = z.infer<typeof SpendingLimits>;

/** More than any organization has. */
const unlimited = Number.MAX_SAFE_INTEGER;

/** Returns the operator's daily cap in micro-units; undefined is no cap. */
export function operatorCapMicros({ operatorDailyCap }: SpendingLimits): number | undefined {
  if (operatorDailyCap === "none") return undefined;
  return operatorDailyCap ?? microsOfText(config.dailySpendCap() ?? "");
}

/** Returns the daily cap in micro-units; undefined is no cap. */
export function dailyCapMicros(wallet: SpendingLimits): number | undefined {
  const { customerDailyCapMicros = unlimited } = wallet;
  const micros = Math.min(operatorCapMicros(wallet) ?? unlimited, customerDailyCapMicros);
  return micros === unlimited ? undefined : micros;
}

function sendsPerSecond({ operatorSendsPerSecond }: SpendingLimits): number | undefined {
  return operatorSendsPerSecond === "none" ? undefined : (operatorSendsPerSecond ?? config.sendsPerSecond());
}

/** Returns what was spent since midnight (UTC), in micro-units. */
export function spentTodayMicros(wallet: SpendingLimits): number {
  return isNewDay(wallet) ? 0 : wallet.spentTodayMicros;
}

/** Returns what may still be spent until midnight (UTC), in micro-units. */
export function spendLeftMicros(wallet: SpendingLimits): number {
  const calculated = isNewDay(wallet) ? undefined : wallet.spendLeftMicros;
  return calculated ?? (dailyCapMicros(wallet) ?? unlimited) - spentTodayMicros(wallet);
}

function today(): string {
  return dayOf(now().toISOString());
}

/** Returns when the next day begins (UTC). */
export function nextDay(): Date {
  return new Date(Date.parse(today()) + dayMs);
}

/** The messages that a wallet paid for on one day (UTC), and their prices. */
export interface AcceptedOfDay {
  readonly day: string;
  readonly accepted: number;
  readonly acceptedMicros: number;
}

/** Returns what the wallet counted on its last day; undefined if nothing. */
export function acceptedOfDay({
  spendDay,
  acceptedToday = 0,
  acceptedTodayMicros = 0,
}: SpendingLimits): AcceptedOfDay | undefined {
  if (acceptedToday === 0) return undefined;
  return { day: spendDay, accepted: acceptedToday, acceptedMicros: acceptedTodayMicros };
}

/** Returns the fields of a wallet from which nothing was spent. */
export function fullSpendingLimits(organizationId: string): Omit<SpendingLimits, "organizationId"> {
  const unspent = { organizationId, spendDay: today(), spentTodayMicros: 0 };
  return { ...currentWindow(unspent), ...fullBucket(unspent) };
}

/** Returns the current day by the current limits. A slow clock does not bring back yesterday. */
function currentWindow(
  seen: SpendingLimits,
): Pick<SpendingLimits, "spendDay" | "spendLeftMicros" | "spentTodayMicros"> {
  return {
    spendDay: isNewDay(seen) ? today() : seen.spendDay,
    spentTodayMicros: spentTodayMicros(seen),
    spendLeftMicros: spendLeftMicros(seen),
  };
}

function fullBucket(seen: SpendingLimits): Pick<SpendingLimits, "paceLeft" | "paceSince"> {
  return { paceSince: now().toISOString(), paceLeft: sendsPerSecond(seen) ?? unlimited };
}

/** The amounts that a debit reserves of the limits. The worker of a campaign limits its messages itself. */
export interface Reservation {
  readonly amountMicros: number;
  readonly sends: number;
  readonly isPaced: boolean;
}

/** Returns how a debit changes the limits, and what it requires of them. */
export function reserve({ amountMicros, sends, isPaced }: Reservation): {
  readonly add: NonNullable<Changes<"wallet">["add"]>;
  readonly atLeast: NonNullable<Requirements<"wallet">["atLeast"]>;
} {
  const spent = {
    spentTodayMicros: amountMicros,
    spendLeftMicros: -amountMicros,
    acceptedToday: sends,
    acceptedTodayMicros: amountMicros,
  };
  const atLeast = { spendDay: today(), spendLeftMicros: amountMicros };
  if (!isPaced) return { add: spent, atLeast };
  return { add: { ...spent, paceLeft: -sends }, atLeast: { ...atLeast, paceLeft: sends } };
}

/**
 * Returns how the return of a debit changes the limits, and what it requires of them. Another day has its own limits. If what
 * is left is missing, the next debit calculates it.
 */
export function unreserve(
  { spendDay, spendLeftMicros: left }: SpendingLimits,
  { day, accepted, acceptedMicros }: AcceptedOfDay,
): { readonly add?: Changes<"wallet">["add"]; readonly requires?: Requirements<"wallet"> } {
  if (day !== spendDay) return {};
  const counted = { acceptedToday: -accepted, acceptedTodayMicros: -acceptedMicros };
  const add = { ...counted, spentTodayMicros: -acceptedMicros };
  const is = { spendDay };
  return left === undefined
    ? { add, requires: { is, absent: ["spendLeftMicros"] } }
    : { add: { ...add, spendLeftMicros: acceptedMicros }, requires: { is, present: ["spendLeftMicros"] } };
}

/** Why a debit was rejected. `none`: not because of a limit; `day` and `bucket`: because of a reset that is due. */
type RejectionReason = "bucket" | "cap" | "day" | "none" | "rate";

/** Returns the limit that rejected a debit, or the reset that is due before it. */
export function rejectionReason(
  wallet: SpendingLimits,
  { amountMicros, sends, isPaced }: Reservation,
): RejectionReason {
  if (isNewDay(wallet) || wallet.spendLeftMicros === undefined) return "day";
  if (wallet.spendLeftMicros < amountMicros) return "cap";
  if (!isPaced || (wallet.paceLeft ?? 0) >= sends) return "none";
  return isSecondOver(wallet) ? "bucket" : "rate";
}

function isNewDay({ spendDay }: SpendingLimits): boolean {
  return spendDay < today();
}

function isSecondOver({ paceSince }: SpendingLimits): boolean {
  return paceSince === undefined || now().getTime() - Date.parse(paceSince) >= secondMs;
}

/**
 * Calculates what may still be spent after a new day began or a cap changed. Does nothing if another call was first.
 * @param keep stores the figures of the previous day. The next day begins only after that, and only if the figures did not
 *   change meanwhile. A late debit of that day is therefore not lost.
 */
export async function resetDailyWindow(
  seen: SpendingLimits,
  keep: (accepted: AcceptedOfDay) => Promise<void>,
): Promise<void> {
  const day = currentWindow(seen);
  const isNext = day.spendDay !== seen.spendDay;
  const accepted = acceptedOfDay(seen);
  if (isNext && accepted !== undefined) await keep(accepted);
  // A rate limit that the stage changed applies from the next day on.
  const next = isNext ? { ...fullBucket(seen), acceptedToday: 0, acceptedTodayMicros: 0 } : {};
  await resetFields(seen, { ...day, ...next }, [
    "operatorDailyCap",
    "customerDailyCapMicros",
    "operatorSendsPerSecond",
    "spendDay",
    "spentTodayMicros",
    "spendLeftMicros",
    "acceptedToday",
    "acceptedTodayMicros",
  ]);
}

/** Fills the bucket of sends for the next second. Does nothing if another call was first. */
export async function refillBucket(seen: SpendingLimits): Promise<void> {
  await resetFields(seen, fullBucket(seen), ["operatorSendsPerSecond", "paceSince"]);
}

async function resetFields(
  seen: SpendingLimits,
  set: Partial<SpendingLimits>,
  asSeen: readonly (keyof SpendingLimits)[],
): Promise<void> {
  const known = asSeen.filter((field) => seen[field] !== undefined);
  const requirements: Requirements<"wallet"> = {
    is: Object.fromEntries(known.map((field) => [field, seen[field]])),
    absent: asSeen.filter((field) => seen[field] === undefined),
    present: ["pk"],
  };
  await updateItem(SpendingLimits, updateOf(keys.wallet(seen.organizationId), { set }, requirements));
}

/** Returns the error of a debit beyond the daily cap, or beyond the daily budget of an API key. */
export function capReached(
  code: "DAILY_SPEND_CAP_REACHED" | "KEY_BUDGET_REACHED" = "DAILY_SPEND_CAP_REACHED",
): ApiError {
  const retryAfterSeconds = waitSeconds(nextDay().getTime() - now().getTime());
  return new ApiError(code, { retryAfterSeconds });
}

/** Returns the error of a send beyond the rate limit. */
export function sendRateExceeded(wallet: SpendingLimits): ApiError {
  return limitReached(
    { ...sendRateLimit(sendsPerSecond(wallet) ?? 0), code: "SEND_RATE_EXCEEDED" },
    secondMs,
  );
}

/** Returns the limit on sends per second and what is left of it; undefined where there is no limit. */
export function sendRateStatus(wallet: SpendingLimits): RateLimitStatus | undefined {
  const max = sendsPerSecond(wallet);
  if (max === undefined) return undefined;
  const remaining = isSecondOver(wallet) ? max : Math.max(0, wallet.paceLeft ?? max);
  return { ...sendRateLimit(max), remaining, resetSeconds: 1 };
}

function sendRateLimit(max: number): RateLimit {
  return { name: "sends", max, windowMs: secondMs };
}
