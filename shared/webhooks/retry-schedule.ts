import { hourMs, minuteMs, secondMs } from "../platform/clock.ts";

/** Waits after the first, second, … attempt that failed. After the last of them a delivery has failed. */
const retryDelaysMs = [
  5 * secondMs,
  minuteMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  6 * hourMs,
  12 * hourMs,
] as const;

/** A wait is up to this share longer, so that simultaneous failures are not retried simultaneously. */
const jitterShare = 0.2;

/** The longest delay that a receiver can request with Retry-After. */
const maxRetryAfterMs = 24 * hourMs;

/**
 * Returns the time of the next attempt; undefined after the last one. A receiver's Retry-After can delay it to at most 24
 * hours after the failure, and never makes it earlier than the schedule.
 * @param failed `attempts` counts the one that failed `at`; `retryAfter` is the header as it came
 * @param random from 0 to 1, decides on the jitter
 */
export function retryAt(
  failed: { readonly attempts: number; readonly at: Date; readonly retryAfter?: string | undefined },
  random = Math.random(),
): Date | undefined {
  const delayMs = retryDelaysMs[failed.attempts - 1];
  if (delayMs === undefined) return undefined;
  const askedMs = Math.min(retryAfterMs(failed.retryAfter, failed.at), maxRetryAfterMs);
  return new Date(failed.at.getTime() + Math.max(delayMs * (1 + jitterShare * random), askedMs));
}

/** Returns a Retry-After header (RFC 9110, 10.2.3: seconds or an HTTP date) in milliseconds; 0 without a valid one. */
function retryAfterMs(header: string | undefined, at: Date): number {
  if (header === undefined) return 0;
  if (/^\d{1,10}$/.test(header)) return Number(header) * secondMs;
  const date = header.endsWith(" GMT") ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - at.getTime());
}
