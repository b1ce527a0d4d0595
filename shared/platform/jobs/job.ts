import { now, secondMs } from "../clock.ts";
import type { QueueName } from "./queue-names.ts";

/** A job, and the queue that it belongs on. */
export interface QueuedJob {
  readonly queue: QueueName;
  /** Jobs of one group share a fair part of the queue: one tenant's blast does not delay the others. */
  readonly group: string;
  readonly body: unknown;
  readonly delaySeconds?: number;
}

/** The attribute of a job that was parked and redriven: when it was queued first, in milliseconds since the epoch. */
export const queuedAtAttribute = "queuedAtMs";

/** The longest that SQS delays a message; what is due later waits in the table. */
export const maxDelaySeconds = 900;

/** Seconds until a moment, rounded up so that nothing starts early; 0 when it has come, or when there is none. */
export function secondsUntil(moment: string | undefined): number {
  if (moment === undefined) return 0;
  return Math.max(0, Math.ceil((Date.parse(moment) - now().getTime()) / secondMs));
}
