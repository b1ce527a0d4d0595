/** The present moment. All code that needs the time asks here, so that a test can decide what time it is. */
export function now(): Date {
  return new Date();
}

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Seconds since the epoch, the unit of DynamoDB's TTL attribute. */
export function epochSeconds(date: Date): number {
  return Math.floor(date.getTime() / secondMs);
}
