import * as z from "zod/mini";

import type { ApiError } from "../../api/contract/errors.ts";
import { dayMs, dayOf, epochSeconds, now } from "../clock.ts";
import { keys } from "../table/keys.ts";
import { findItem } from "../table/read.ts";
import { updateItem, updateOf, type Update } from "../table/write.ts";
import { limitReached, type RateLimit } from "./rate-limit.ts";

export const CountedUses = z.object({ uses: z.int() });

/** A limit on uses, or on an amount, in a day (UTC). It may be of any size, because the count is a number. */
type DailyLimit = Omit<RateLimit, "windowMs">;

/** Returns the write that counts against a limit. It is rejected beyond it. */
export function useToday({ name, max }: DailyLimit, subject: string, amount = 1): Update<"usesOfDay"> {
  const day = dayOf(now().toISOString());
  const expiresAt = epochSeconds(new Date(Date.parse(day) + 2 * dayMs));
  const atMost = { uses: max - amount };
  return updateOf(
    keys.usesOfDay(name, `${subject}#${day}`),
    { set: { entity: "usesOfDay", expiresAt }, add: { uses: amount } },
    // Without a count, the first use may take all of the limit, and not more.
    amount > max ? { atMost } : { ifPresent: { atMost } },
  );
}

/** Returns what counts against a limit today. */
export async function usesToday(name: string, subject: string): Promise<number> {
  return (await findItem(CountedUses, useToday({ name, max: 0 }, subject).key))?.uses ?? 0;
}

/** Returns the error for a use beyond a limit. */
export function dailyLimitReached(limit: DailyLimit): ApiError {
  const at = now();
  const endsAtMs = Date.parse(dayOf(at.toISOString())) + dayMs;
  return limitReached({ ...limit, windowMs: dayMs }, endsAtMs - at.getTime());
}

/**
 * Counts an amount against a limit, with a single effect.
 * @returns a function that takes the amount back from the count of the same day, or undefined if the limit is reached
 */
export async function reserveToday(
  limit: DailyLimit,
  subject: string,
  amount: number,
): Promise<(() => Promise<void>) | undefined> {
  const use = useToday(limit, subject, amount);
  const reserved = await updateItem(CountedUses, use, { singleEffect: true });
  if (!reserved.applied) return undefined;
  return async () => {
    const release = updateOf(use.key, { add: { uses: -amount } }, { present: ["uses"] });
    await updateItem(CountedUses, release, { singleEffect: true });
  };
}

/**
 * Counts uses against a limit, all or none. A write that is repeated after a lost response counts twice, which is harmless.
 * @throws ApiError with the limit's code when the limit is reached
 */
export async function consumeToday(limit: DailyLimit, subject: string, amount = 1): Promise<void> {
  const counted = await updateItem(CountedUses, useToday(limit, subject, amount));
  if (!counted.applied) throw dailyLimitReached(limit);
}
