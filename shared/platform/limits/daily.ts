import * as z from "zod/mini";

import { dayMs, dayOf, epochSeconds, now } from "../clock.ts";
import { keys } from "../table/keys.ts";
import { updateItem, updateOf } from "../table/write.ts";
import { limitReached, type RateLimit } from "./rate-limit.ts";

const CountedUses = z.object({ uses: z.int() });

/**
 * Counts a use against a limit of uses per day (UTC). The limit may be of any size, because the count is a number. A write
 * that is repeated after a lost response counts twice, which is harmless.
 * @throws ApiError with the limit's code when the limit is reached
 */
export async function consumeToday(limit: Omit<RateLimit, "windowMs">, subject: string): Promise<void> {
  const at = now();
  const day = dayOf(at.toISOString());
  const endsAtMs = Date.parse(day) + dayMs;
  const expiresAt = epochSeconds(new Date(endsAtMs + dayMs));
  const counted = await updateItem(
    CountedUses,
    updateOf(
      keys.limit(limit.name, `${subject}#${day}`),
      { set: { entity: "usesOfDay", expiresAt }, add: { uses: 1 } },
      { ifPresent: { below: { uses: limit.max } } },
    ),
  );
  if (!counted.applied) throw limitReached({ ...limit, windowMs: dayMs }, endsAtMs - at.getTime());
}
