import * as z from "zod/mini";

import { ApiError, type RateLimitStatus } from "../contract/errors.ts";
import { dayMs, dayOf, now, secondMs } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { limitReached, waitSeconds, type RateLimit } from "../platform/limits/rate-limit.ts";
import { keys } from "../platform/table/keys.ts";
import { updateItem } from "../platform/table/table.ts";
import { updateOf, type Changes, type Requirements } from "../platform/table/update.ts";
import { microsOfText } from "./money.ts";

/*
 * What an organisation may spend in a day (UTC), and send in a second. A condition of DynamoDB cannot add, so the wallet
 * keeps what is left of both, and a debit takes its share in the very update that takes the price: each sees what all
 * before it took. What is left is computed anew when a day begins and when a second's share is used up. Whoever changes
 * a limit takes away what is left, and then no debit passes until it has been computed by the new one. The reckoning
 * moves no money and names all that it saw, so it may be repeated and come late.
 */

const Limit = z.union([z.literal("none"), z.int().check(z.positive())]);

/** The fields of a wallet that say how much may leave it. */
export const spendingLimitFields = {
  /** As the operator set it for this organisation, in micro-units; where it is absent the stage's holds. */
  operatorDailyCap: z.optional(Limit),
  /** How far the customer lowered it. */
  customerDailyCapMicros: z.optional(z.int().check(z.positive())),
  /** As the operator set it for this organisation; where it is absent the stage's holds. */
  operatorSendsPerSecond: z.optional(Limit),
  /** The day that the next two are of. Wallets of releases that counted no days have none of the three. */
  spendDay: z.optional(z.string()),
  spentTodayMicros: z.optional(z.int().check(z.nonnegative())),
  /** The messages of that day and their prices, which the organization's statistics show. */
  acceptedToday: z.optional(z.int()),
  acceptedTodayMicros: z.optional(z.int()),
  /** Absent from when a cap was changed until the next debit. Below zero where more was spent before. */
  spendLeftMicros: z.optional(z.int()),
  /** When the present share of sends began, and what is left of it; absent where the pace was changed. */
  paceSince: z.optional(z.string()),
  paceLeft: z.optional(z.int()),
};

const SpendingLimits = z.object({ organizationId: z.string(), ...spendingLimitFields });
type SpendingLimits = z.infer<typeof SpendingLimits>;

/** More than anybody has. */
const unlimited = Number.MAX_SAFE_INTEGER;

/** What the operator lets an organisation spend in a day, in micro-units; undefined is no cap. */
export function operatorCapMicros({ operatorDailyCap }: SpendingLimits): number | undefined {
  if (operatorDailyCap === "none") return undefined;
  return operatorDailyCap ?? microsOfText(config.dailySpendCap() ?? "");
}

/** What an organisation may spend in a day, in micro-units; undefined is no cap. */
export function dailyCapMicros(wallet: SpendingLimits): number | undefined {
  const { customerDailyCapMicros = unlimited } = wallet;
  const micros = Math.min(operatorCapMicros(wallet) ?? unlimited, customerDailyCapMicros);
  return micros === unlimited ? undefined : micros;
}

function sendsPerSecond({ operatorSendsPerSecond }: SpendingLimits): number | undefined {
  return operatorSendsPerSecond === "none" ? undefined : (operatorSendsPerSecond ?? config.sendsPerSecond());
}

/** What was spent since the last midnight (UTC), in micro-units. */
export function spentTodayMicros(wallet: SpendingLimits): number {
  return isNewDay(wallet) ? 0 : (wallet.spentTodayMicros ?? 0);
}

/** What may still be spent until the next midnight (UTC), in micro-units. */
export function spendLeftMicros(wallet: SpendingLimits): number {
  const reckoned = isNewDay(wallet) ? undefined : wallet.spendLeftMicros;
  return reckoned ?? (dailyCapMicros(wallet) ?? unlimited) - spentTodayMicros(wallet);
}

function today(): string {
  return dayOf(now().toISOString());
}

/** When the next day begins (UTC), and with it another cap. */
export function nextDay(): Date {
  return new Date(Date.parse(today()) + dayMs);
}

/** What a wallet counted on one day (UTC): messages that were paid for, and their prices. */
export interface AcceptedOfDay {
  readonly day: string;
  readonly accepted: number;
  readonly acceptedMicros: number;
}

/** What was accepted on the wallet's last day; undefined where nothing was counted. */
export function acceptedOfDay({
  spendDay,
  acceptedToday = 0,
  acceptedTodayMicros = 0,
}: SpendingLimits): AcceptedOfDay | undefined {
  if (spendDay === undefined || acceptedToday === 0) return undefined;
  return { day: spendDay, accepted: acceptedToday, acceptedMicros: acceptedTodayMicros };
}

/** The fields of a wallet of which nothing was spent. */
export function fullSpendingLimits(organizationId: string): Omit<SpendingLimits, "organizationId"> {
  return { ...currentWindow({ organizationId }), ...fullBucket({ organizationId }) };
}

/** The present day as it stands, by the limits as they are. A clock that is behind does not bring yesterday back. */
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

/** What a debit takes of its allowances. Sends that are paced by other means take no share of the second. */
export interface Reservation {
  readonly amountMicros: number;
  readonly sends: number;
  readonly isPaced: boolean;
}

/** What taking it does to a wallet, and requires of it. */
export function reserve({ amountMicros, sends, isPaced }: Reservation): {
  readonly add: NonNullable<Changes["add"]>;
  readonly where: string;
  readonly values: NonNullable<Requirements["values"]>;
} {
  const spent = {
    spentTodayMicros: amountMicros,
    spendLeftMicros: -amountMicros,
    acceptedToday: sends,
    acceptedTodayMicros: amountMicros,
  };
  const where = "spendDay >= :today AND #spendLeftMicros >= :spent";
  const values = { ":today": today(), ":spent": amountMicros };
  if (!isPaced) return { add: spent, where, values };
  return {
    add: { ...spent, paceLeft: -sends },
    where: `${where} AND #paceLeft >= :sends`,
    values: { ...values, ":sends": sends },
  };
}

/** Why a debit did not pass. `none`: not for want of an allowance. */
type RejectionReason = "bucket" | "cap" | "day" | "none" | "rate";

/** What stood in the way of a debit, if the allowances did: a limit, or what is left was to be computed first. */
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
  return spendDay === undefined || spendDay < today();
}

function isSecondOver({ paceSince }: SpendingLimits): boolean {
  return paceSince === undefined || now().getTime() - Date.parse(paceSince) >= secondMs;
}

/**
 * Reckons what may still be spent, for a day that began or a cap that was changed; unless somebody else came first.
 * @param keep puts the figures of a day that is over where they stay. The wallet moves on only behind it, and only if the
 *   figures are still the same: what a late debit adds to that day is not lost
 */
export async function resetDailyWindow(
  seen: SpendingLimits,
  keep: (accepted: AcceptedOfDay) => Promise<void>,
): Promise<void> {
  const day = currentWindow(seen);
  const isNext = day.spendDay !== seen.spendDay;
  const accepted = acceptedOfDay(seen);
  if (isNext && accepted !== undefined) await keep(accepted);
  // With a new day, a pace that the stage changed comes into force.
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

/** Gives an organisation the share of the next second, unless somebody else did. */
export async function refillBucket(seen: SpendingLimits): Promise<void> {
  await resetFields(seen, fullBucket(seen), ["operatorSendsPerSecond", "paceSince"]);
}

async function resetFields(
  seen: SpendingLimits,
  set: Partial<SpendingLimits>,
  asSeen: readonly (keyof SpendingLimits)[],
): Promise<void> {
  const known = asSeen.filter((field) => seen[field] !== undefined);
  const requirements = {
    is: Object.fromEntries(known.map((field) => [field, seen[field]])),
    absent: asSeen.filter((field) => seen[field] === undefined),
    present: ["pk"],
  };
  await updateItem(SpendingLimits, updateOf(keys.wallet(seen.organizationId), { set }, requirements));
}

/** The refusal of a debit that would go beyond what may be spent in a day. */
export function capReached(): ApiError {
  const retryAfterSeconds = waitSeconds(nextDay().getTime() - now().getTime());
  return new ApiError("DAILY_SPEND_CAP_REACHED", { retryAfterSeconds });
}

/** The refusal of a send beyond those of a second. */
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
