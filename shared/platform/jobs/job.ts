import { now, secondMs } from "../clock.ts";
import type { QueueName } from "../queue-names.ts";

/** A job and its queue. */
export interface QueuedJob {
  readonly queue: QueueName;
  /** The groups share the queue fairly: one tenant's burst does not delay the others. */
  readonly group: string;
  readonly body: unknown;
  readonly delaySeconds?: number;
}

/** The reason why a job has to return that is no failure of the gateway. It does not count as a failed job. */
export class ReturnsLater extends Error {}

/** The attribute of a job that was parked and redriven: its first queue time, in milliseconds since the epoch. */
export const queuedAtAttribute = "queuedAtMs";

/** The attribute of a job that a request caused: the request's ID, which the worker's log lines have. */
export const requestIdAttribute = "requestId";

/** The longest delay of an SQS message. A job that is due later waits in the table. */
export const maxDelaySeconds = 900;

/** Returns the seconds until a moment, rounded up so that nothing starts early; 0 if it has passed or is undefined. */
export function secondsUntil(moment: string | undefined): number {
  if (moment === undefined) return 0;
  return Math.max(0, Math.ceil((Date.parse(moment) - now().getTime()) / secondMs));
}
