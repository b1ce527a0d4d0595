import { minuteMs } from "../../platform/clock.ts";
import { readPause, type Pause } from "../../platform/jobs/pause.ts";
import { log } from "../../platform/log.ts";
import { TtlCache } from "../../platform/ttl-cache.ts";

/** How long a sender uses the state that it has read. */
const cachedMs = minuteMs;

/**
 * Whether the stage sends, as of at most a minute ago.
 * @returns a reader that caches the state; an instance of a function has one for all its calls
 */
export function cachedSending(): () => Promise<Pause> {
  const cache = new TtlCache<Pause>({ ttlMs: cachedMs });
  return async () =>
    cache.read(async () => {
      const sending = await readPause("sending");
      if (sending.pausedAt !== undefined) log.warn("sending.paused");
      return sending;
    });
}
