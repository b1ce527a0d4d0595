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
 * A wallet has two limits. The daily cap limits what it spends in a day (UTC). The rate limit limits the messages that it pays
 * for in a second. A DynamoDB condition cannot add. So the wallet stores what is left of each limit, and the update that debits
 * a price also subtracts from both.
 *
 * Two updates move no money and start a period. `startDay` comes with the first debit of a day. `startSecond` comes when the
 * messages of a second are used up and it is over. Each requires all values that it was calculated from. So it does nothing when
 * it is repeated, or when another call was first. A change of a limit deletes what is left, and the next debit calculates it.
 */

const Limit = z.union([z.literal("none"), z.int().check(z.positive())]);

/** The fields of a wallet that hold its spending limits. */
export const spendingLimitFields = {
  /** The operator's cap for this organization, in micro-units. Without it, the cap of the stage applies. */
  operatorDailyCap: z.optional(Limit),
  /** The customer's own cap. The smaller one of both applies. */
  customerDailyCapMicros: z.optional(z.int().check(z.positive())),
  /** The operator's rate limit for this organization. Without it, the limit of the stage applies. */
  operatorSendsPerSecond: z.optional(Limit),
  /** The day of the last `startDay`, and what was spent on it. */
  spendDay: z.string(),
  spentTodayMicros: z.int().check(z.nonnegative()),
  /** The messages of that day and their prices, which the organization's statistics show. */
  acceptedToday: z.optional(z.int()),
  acceptedTodayMicros: z.optional(z.int()),
  /** Absent after a change of the cap, until the next debit. Negative if more was spent before. */
  spendLeftMicros: z.optional(z.int()),
  /** When the current second began, and the messages left in it. Absent after a change of the rate limit. */
  secondSince: z.optional(z.string()),
  sendsLeft: z.optional(z.int()),
};

const SpendingLimits = z.object({ organizationId: z.string(), ...spendingLimitFields });
type SpendingLimits = z.infer<typeof SpendingLimits>;

/** Stands for no limit: more money or messages than any organization has. */
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
  /** Fees that were debited with them, and are returned with them. */
  readonly feeMicros?: number;
}

/** Returns what the wallet counted on its `spendDay`; undefined if nothing. */
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
  return { ...currentDay(unspent), ...newSecond(unspent) };
}

/** Returns the fields of the current day, by the current limits. A slow clock does not start an earlier day. */
function currentDay(
  seen: SpendingLimits,
): Pick<SpendingLimits, "spendDay" | "spendLeftMicros" | "spentTodayMicros"> {
  return {
    spendDay: isNewDay(seen) ? today() : seen.spendDay,
    spentTodayMicros: spentTodayMicros(seen),
    spendLeftMicros: spendLeftMicros(seen),
  };
}

/** Returns the fields of a second that begins now. */
function newSecond(seen: SpendingLimits): Pick<SpendingLimits, "sendsLeft" | "secondSince"> {
  return { secondSince: now().toISOString(), sendsLeft: sendsPerSecond(seen) ?? unlimited };
}

/** The part of the limits that a debit uses. */
export interface Reservation {
  /** With fees, which are not among the messages of the day. */
  readonly amountMicros: number;
  readonly feeMicros: number;
  readonly sends: number;
  /** How many sends count against the rate limit. */
  readonly rateLimitedSends: number;
}

/** Returns how a debit changes the limits, and what it requires of them. */
export function reserve({ amountMicros, feeMicros, sends, rateLimitedSends }: Reservation): {
  readonly add: NonNullable<Changes<"wallet">["add"]>;
  readonly atLeast: NonNullable<Requirements<"wallet">["atLeast"]>;
} {
  const spent = {
    spentTodayMicros: amountMicros,
    spendLeftMicros: -amountMicros,
    acceptedToday: sends,
    acceptedTodayMicros: amountMicros - feeMicros,
  };
  const atLeast = { spendDay: today(), spendLeftMicros: amountMicros };
  if (rateLimitedSends === 0) return { add: spent, atLeast };
  return {
    add: { ...spent, sendsLeft: -rateLimitedSends },
    atLeast: { ...atLeast, sendsLeft: rateLimitedSends },
  };
}

/**
 * Returns how the return of a debit changes the limits, and what it requires of them. Another day has its own limits. If what
 * is left is missing, the next debit calculates it.
 */
export function unreserve(
  { spendDay, spentTodayMicros: spent, spendLeftMicros: left }: SpendingLimits,
  { day, accepted, acceptedMicros, feeMicros = 0 }: AcceptedOfDay,
): { readonly add?: Changes<"wallet">["add"]; readonly requires?: Requirements<"wallet"> } {
  if (day !== spendDay || spent < acceptedMicros + feeMicros) return {};
  const counted = { acceptedToday: -accepted, acceptedTodayMicros: -acceptedMicros };
  const add = { ...counted, spentTodayMicros: -acceptedMicros - feeMicros };
  const is = { spendDay };
  return left === undefined
    ? { add, requires: { is, absent: ["spendLeftMicros"] } }
    : {
        add: { ...add, spendLeftMicros: acceptedMicros + feeMicros },
        requires: { is, present: ["spendLeftMicros"] },
      };
}

/** Why a debit was rejected: a period that has to start first, or a limit. `none`: no limit was the reason. */
type DebitObstacle = "newSecond" | "cap" | "newDay" | "none" | "rate";

/** Returns why the limits rejected a debit. */
export function obstacleOf(
  wallet: SpendingLimits,
  { amountMicros, rateLimitedSends }: Reservation,
): DebitObstacle {
  if (isNewDay(wallet) || wallet.spendLeftMicros === undefined) return "newDay";
  if (wallet.spendLeftMicros < amountMicros) return "cap";
  if (rateLimitedSends === 0 || (wallet.sendsLeft ?? 0) >= rateLimitedSends) return "none";
  return isSecondOver(wallet) ? "newSecond" : "rate";
}

function isNewDay({ spendDay }: SpendingLimits): boolean {
  return spendDay < today();
}

function isSecondOver({ secondSince }: SpendingLimits): boolean {
  return secondSince === undefined || now().getTime() - Date.parse(secondSince) >= secondMs;
}

/**
 * Starts a day, or calculates what is left of the present one after a change of the cap. Does nothing if another call was first.
 * @param keep stores the figures of the previous day. The next day begins only after that, and only if the figures did not
 *   change meanwhile. A late debit of that day is therefore not lost.
 */
export async function startDay(
  seen: SpendingLimits,
  keep: (accepted: AcceptedOfDay) => Promise<void>,
): Promise<void> {
  const day = currentDay(seen);
  const isNext = day.spendDay !== seen.spendDay;
  const accepted = acceptedOfDay(seen);
  if (isNext && accepted !== undefined) await keep(accepted);
  // A new day also starts a second, with the present rate limit.
  const next = isNext ? { ...newSecond(seen), acceptedToday: 0, acceptedTodayMicros: 0 } : {};
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

/** Starts the next second. Does nothing if another call was first. */
export async function startSecond(seen: SpendingLimits): Promise<void> {
  await resetFields(seen, newSecond(seen), ["operatorSendsPerSecond", "secondSince"]);
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
  const remaining = isSecondOver(wallet) ? max : Math.max(0, wallet.sendsLeft ?? max);
  return { ...sendRateLimit(max), remaining, resetSeconds: 1 };
}

function sendRateLimit(max: number): RateLimit {
  return { name: "sends", max, windowMs: secondMs };
}
