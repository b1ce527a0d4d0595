import { minuteMs, now } from "../clock.ts";
import type { Answer } from "./errors.ts";

/** How AWS says that a request was signed for another time than it came in. */
const skewErrors = new Set([
  "InvalidSignatureException",
  "RequestExpired",
  "RequestInTheFuture",
  "RequestTimeTooSkewed",
  "SignatureDoesNotMatch",
]);

/** A clock that differs by less is not why AWS refused: it takes signatures that are up to five minutes old. */
const minSkewMs = 4 * minuteMs;

/** How far the clock of AWS is ahead of ours. */
let skewMs = 0;

/** The time to sign a request for. */
export function signingTime(at: Date): Date {
  return skewMs === 0 ? at : new Date(at.getTime() + skewMs);
}

/**
 * Takes the time from an answer that refuses a request for its own.
 * @returns whether requests are now signed for another time
 */
export function correctClock(errorName: string, { headers }: Answer): boolean {
  if (!skewErrors.has(errorName)) return false;
  const { date } = headers;
  const foundMs = Date.parse(typeof date === "string" ? date : "") - now().getTime();
  if (Number.isNaN(foundMs) || Math.abs(foundMs - skewMs) < minSkewMs) return false;
  skewMs = foundMs;
  return true;
}
