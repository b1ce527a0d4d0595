import { ApiError, type ErrorCode } from "../../api/contract/errors.ts";
import { secondMs } from "../clock.ts";

/** A limit on how many uses a subject has within a time. */
export interface RateLimit {
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
  /** The error of a use beyond the limit; RATE_LIMITED by default. */
  readonly code?: ErrorCode;
  /** The message of that error, where the caller has another way. */
  readonly message?: string;
}

/** Returns the error for a use beyond a limit. */
export function limitReached(
  { code = "RATE_LIMITED", message, ...limit }: RateLimit,
  waitMs: number,
): ApiError {
  const retryAfterSeconds = waitSeconds(waitMs);
  const rateLimit = { ...limit, remaining: 0, resetSeconds: retryAfterSeconds };
  return new ApiError(code, { ...(message !== undefined && { message }), retryAfterSeconds, rateLimit });
}

/** Returns a waiting time in whole seconds, at least one. */
export function waitSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / secondMs));
}

/** Returns the time that units take at a rate. */
export function durationMs(units: number, perSecond: number): number {
  return (units * secondMs) / perSecond;
}
