import { createHash } from "node:crypto";

import * as z from "zod";

import { ApiError } from "../../contract/errors.ts";
import { epochSeconds, now, secondMs } from "../clock.ts";
import { keys, type Key } from "../table/keys.ts";
import { updateItem } from "../table/table.ts";
import { updateOf } from "../table/update.ts";

export interface Limit {
  readonly what: string;
  readonly max: number;
  readonly windowMs: number;
}

const Counter = z.object({ tries: z.number() });

/**
 * Counts one try against a limit of so many in a window of time.
 * @throws ApiError RATE_LIMITED, with Retry-After, when the window is used up
 */
export async function countTry(limit: Limit, whom: string): Promise<void> {
  const { key, endsAt } = windowOf(limit, whom);
  const counted = await updateItem(
    Counter,
    updateOf(
      key,
      { set: { entity: "limit", expiresAt: epochSeconds(endsAt) }, add: { tries: 1 } },
      { where: "attribute_not_exists(#tries) OR #tries < :max", values: { ":max": limit.max } },
    ),
  );
  if (counted.applied) return;
  const retryAfterSeconds = Math.ceil((endsAt.getTime() - now().getTime()) / secondMs);
  throw new ApiError("RATE_LIMITED", { headers: { "Retry-After": String(Math.max(1, retryAfterSeconds)) } });
}

/** Takes a counted try back, for a try that turned out not to be one of those that the limit is for. */
export async function forgetTry(limit: Limit, whom: string): Promise<void> {
  await updateItem(
    Counter,
    updateOf(
      windowOf(limit, whom).key,
      { add: { tries: -1 } },
      { where: "#tries > :zero", values: { ":zero": 0 } },
    ),
  );
}

function windowOf(limit: Limit, whom: string): { key: Key; endsAt: Date } {
  const window = Math.floor(now().getTime() / limit.windowMs);
  const hash = createHash("sha256").update(whom).digest("hex");
  return {
    key: keys.limit(limit.what, hash, String(window)),
    endsAt: new Date((window + 1) * limit.windowMs),
  };
}
