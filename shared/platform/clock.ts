/** The present moment. All code that needs the time asks here, so that a test can decide what time it is. */
export function now(): Date {
  return new Date();
}

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The day (UTC) of a moment in ISO 8601, such as `2026-03-01`. */
export function dayOf(moment: string): string {
  return moment.slice(0, "yyyy-mm-dd".length);
}

/** Seconds since the epoch, the unit of DynamoDB's TTL attribute. */
export function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / secondMs);
}
