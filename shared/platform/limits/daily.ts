import * as z from "zod/mini";

import type { ApiError } from "../../api/contract/errors.ts";
import { dayMs, dayOf, epochSeconds, now } from "../clock.ts";
import { keys, type Key } from "../table/keys.ts";
import { findItem } from "../table/read.ts";
import { updateItem, updateOf, type Outcome, type Update } from "../table/write.ts";
import { limitReached, type RateLimit } from "./rate-limit.ts";

export const CountedUses = z.object({
  uses: z.int(),
  /** The named reservations that are not settled: `<amount>#<name>`. */
  pending: z._default(z.set(z.string()), new Set()),
});
type CountedUses = z.infer<typeof CountedUses>;

/** A limit on uses, or on an amount, in a day (UTC). It may be of any size, because the count is a number. */
type DailyLimit = Omit<RateLimit, "windowMs">;

/**
 * Returns the write that counts against a limit. It is rejected beyond it.
 * @param pending names the use, until it is settled. The write is rejected if it has been counted
 */
export function useToday(
  { name, max }: DailyLimit,
  subject: string,
  amount = 1,
  pending?: string,
): Update<"usesOfDay"> {
  const day = dayOf(now().toISOString());
  const expiresAt = epochSeconds(new Date(Date.parse(day) + 2 * dayMs));
  const atMost = { uses: max - amount };
  return updateOf(
    keys.usesOfDay(name, `${subject}#${day}`),
    {
      set: { entity: "usesOfDay", expiresAt },
      add: { uses: amount, ...(pending !== undefined && { pending: new Set([pending]) }) },
    },
    {
      // Without a count, the first use may take all of the limit, and not more.
      ...(amount > max ? { atMost } : { ifPresent: { atMost } }),
      ...(pending !== undefined && { lacks: { pending } }),
    },
  );
}

/** Returns what counts against a limit today. @param except the name of a reservation that is left out while it is pending */
export async function usesToday(name: string, subject: string, except?: string): Promise<number> {
  const count = await findItem(CountedUses, useToday({ name, max: 0 }, subject).key);
  if (count === undefined) return 0;
  const left = [...count.pending].filter((each) => nameIn(each) === except);
  return left.reduce((uses, each) => uses - amountIn(each), count.uses);
}

/** Returns the error for a use beyond a limit. */
export function dailyLimitReached(limit: DailyLimit): ApiError {
  const at = now();
  const endsAtMs = Date.parse(dayOf(at.toISOString())) + dayMs;
  return limitReached({ ...limit, windowMs: dayMs }, endsAtMs - at.getTime());
}

/** An amount that counts against a limit, while it is uncertain whether it is used. */
export interface Reservation {
  /** Keeps the amount in the count. */
  settle(): Promise<unknown>;
  /** Takes the amount back from the count of the same day. */
  release(): Promise<unknown>;
}

/** The rest of a limit that does not cover an amount. */
interface NotCovered {
  readonly left: number;
}

/**
 * Counts an amount against a limit, with a single effect.
 * @param name what the amount is for. A repeat after an attempt that died counts in its place. Without a name, it counts again
 */
export async function reserveToday(
  limit: DailyLimit,
  subject: string,
  amount: number,
  name?: string,
): Promise<NotCovered | Reservation> {
  if (name !== undefined) return reserveNamed(limit, subject, amount, name);
  const use = useToday(limit, subject, amount);
  const reserved = await updateItem(CountedUses, use, { singleEffect: true });
  if (!reserved.applied) return notCovered(limit, reserved);
  const release = updateOf(use.key, { add: { uses: -amount } }, { present: ["uses"] });
  return {
    settle: async () => undefined,
    release: async () => updateItem(CountedUses, release, { singleEffect: true }),
  };
}

/** The count has the names of its pending reservations, so each write of one can be repeated. */
async function reserveNamed(
  limit: DailyLimit,
  subject: string,
  amount: number,
  name: string,
): Promise<NotCovered | Reservation> {
  const pending = `${amount}#${name}`;
  const use = useToday(limit, subject, amount, pending);
  const reserve = async (): Promise<Outcome<CountedUses>> =>
    updateItem(CountedUses, use, { isOwn: (found) => found.pending.has(pending) });
  let reserved = await reserve();
  // An attempt that died may have reserved another amount.
  const others = [...countOf(reserved).pending].filter((each) => each !== pending && nameIn(each) === name);
  for (const other of others) await updateItem(CountedUses, releaseOf(use.key, other));
  if (others.length > 0 && !reserved.applied) reserved = await reserve();
  if (!reserved.applied) return notCovered(limit, reserved);
  const settle = updateOf(use.key, { take: { pending: new Set([pending]) } }, { contains: { pending } });
  return {
    settle: async () => updateItem(CountedUses, settle),
    release: async () => updateItem(CountedUses, releaseOf(use.key, pending)),
  };
}

function notCovered({ max }: DailyLimit, outcome: Outcome<CountedUses>): NotCovered {
  return { left: Math.max(0, max - countOf(outcome).uses) };
}

/** Returns the write that takes a named reservation back. */
function releaseOf(key: Key<"usesOfDay">, pending: string): Update<"usesOfDay"> {
  return updateOf(
    key,
    { add: { uses: -amountIn(pending) }, take: { pending: new Set([pending]) } },
    { contains: { pending } },
  );
}

function amountIn(pending: string): number {
  return Number.parseInt(pending, 10);
}

function nameIn(pending: string): string {
  return pending.slice(pending.indexOf("#") + 1);
}

function countOf(outcome: Outcome<CountedUses>): CountedUses {
  return outcome.applied ? outcome.item : CountedUses.parse({ uses: 0, ...outcome.found });
}

/**
 * Counts uses against a limit, all or none. A write that is repeated after a lost response counts twice, which is harmless.
 * @throws ApiError with the limit's code when the limit is reached
 */
export async function consumeToday(limit: DailyLimit, subject: string, amount = 1): Promise<void> {
  const counted = await updateItem(CountedUses, useToday(limit, subject, amount));
  if (!counted.applied) throw dailyLimitReached(limit);
}
