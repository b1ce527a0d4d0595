import { nextDay } from "../money/wallet/spending-limits.ts";
import { now } from "../platform/clock.ts";
import { consumeToday, dailyLimitReached, usesToday, useToday } from "../platform/limits/daily.ts";
import { waitSeconds } from "../platform/limits/rate-limit.ts";
import { log } from "../platform/log.ts";
import { deleteItem } from "../platform/table/write.ts";
import type { GuardDecision } from "./guard/guard.ts";
import { digestOf } from "./guard/rules.ts";
import { maxChecks, type VerificationRecord } from "./record.ts";

/*
 * The checks of a number's codes in a day (UTC), over all profiles of an organization and in each mode of the guard. Their limit
 * protects the person from guesses. Strangers who start verifications of the number can use it up. So an approval or the end of
 * the day ends the count, and a code that was sent before can still be checked.
 */

const limit = { name: "verification-checks", max: 25, code: "TOO_MANY_CHECKS" } as const;

type OfNumber = Pick<VerificationRecord, "organizationId" | "to">;

/** The table must not contain the number after its erasure. */
function subjectOf({ organizationId, to }: OfNumber): string {
  return digestOf(organizationId, to);
}

/** Counts a check of a live code, before the code is compared. @throws ApiError TOO_MANY_CHECKS until the end of the day */
export async function countCheck(verification: OfNumber): Promise<void> {
  await consumeToday(limit, subjectOf(verification));
}

/** @throws ApiError TOO_MANY_CHECKS when no code of the number can be checked until the end of the day */
export async function requireCheck(verification: OfNumber): Promise<void> {
  if ((await usesToday(limit.name, subjectOf(verification))) >= limit.max) throw dailyLimitReached(limit);
}

/** Blocks the start of a verification whose code could not be checked as often as others. */
export async function blockedByChecks(start: OfNumber): Promise<GuardDecision | undefined> {
  const checks = await usesToday(limit.name, subjectOf(start));
  if (checks + maxChecks <= limit.max) return undefined;
  const retryAfterSeconds = waitSeconds(nextDay().getTime() - now().getTime());
  return { outcome: "blocked", rule: "checks", retryAfterSeconds };
}

/** Ends the count of a number that was approved or erased. Errors are only logged: the day ends it too. */
export async function endCount(verification: OfNumber): Promise<void> {
  await deleteItem(useToday(limit, subjectOf(verification)).key).catch((error: unknown) => {
    log.warn("verification.not_counted", { organizationId: verification.organizationId, error });
  });
}
