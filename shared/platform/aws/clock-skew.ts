import { minuteMs, now } from "../clock.ts";
import type { AwsResponse } from "./errors.ts";

/** The errors of a request whose signature has another time than the clock of AWS. */
const skewErrors = new Set([
  "InvalidSignatureException",
  "RequestExpired",
  "RequestInTheFuture",
  "RequestTimeTooSkewed",
  "SignatureDoesNotMatch",
]);

/** A smaller difference is not the reason of a rejection, because AWS accepts signatures that are up to five minutes old. */
const minSkewMs = 4 * minuteMs;

/** How far the clock of AWS is ahead of ours. */
let skewMs = 0;

/** Returns the time for the signature of a request. */
export function signingTime(at: Date): Date {
  return skewMs === 0 ? at : new Date(at.getTime() + skewMs);
}

/**
 * Corrects the time by the response that rejected a request because of its time.
 * @returns whether requests are now signed for another time
 */
export function correctClock(errorName: string, { headers }: AwsResponse): boolean {
  if (!skewErrors.has(errorName)) return false;
  const { date } = headers;
  const foundMs = Date.parse(typeof date === "string" ? date : "") - now().getTime();
  if (Number.isNaN(foundMs) || Math.abs(foundMs - skewMs) < minSkewMs) return false;
  skewMs = foundMs;
  return true;
}
