import { invalidField } from "../../api/contract/errors.ts";
import { dayMs } from "../../platform/clock.ts";

/** How long before its time a message or a campaign can be scheduled. */
export const maxScheduleAheadMs = 30 * dayMs;

/**
 * Returns the time to send at in UTC, or undefined for now.
 * @throws ApiError VALIDATION_ERROR in the past, and more than 30 days ahead
 */
export function parseSchedule(scheduledAt: string | undefined, at: Date): string | undefined {
  if (scheduledAt === undefined) return undefined;
  const aheadMs = Date.parse(scheduledAt) - at.getTime();
  if (aheadMs <= 0) throw invalidField("scheduledAt", "must be in the future");
  if (aheadMs > maxScheduleAheadMs) throw invalidField("scheduledAt", "must be at most 30 days ahead");
  return new Date(scheduledAt).toISOString();
}
