/** Returns the current time. All code that needs the time calls this, so that a test can set it. */
export function now(): Date {
  return new Date();
}

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Returns the day (UTC) of a moment in ISO 8601, such as `2026-03-01`. */
export function dayOf(moment: string): string {
  return moment.slice(0, "yyyy-mm-dd".length);
}

/** Returns seconds since the epoch, the unit of DynamoDB's TTL attribute. */
export function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / secondMs);
}
