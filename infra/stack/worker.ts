import type { QueueName } from "../../shared/platform/queue-names.ts";

/** A function that no request calls: it processes the jobs of its queues, or runs on a schedule. */
export interface Worker {
  readonly timeoutSeconds: number;
  readonly queues?: { readonly [Name in QueueName]?: Feed };
  readonly schedule?: Schedule;
  /**
   * Whether its jobs queue jobs for itself. Without it Lambda stops a chain of more than 16 calls as an unintended loop.
   * A message that its carrier throttles for half an hour would then be stuck.
   */
  readonly queuesForItself?: true;
}

export interface Feed {
  /** The number of batches that it processes at the same time. */
  readonly maxConcurrency: number;
  /** The most jobs in a batch, 10 by default. */
  readonly batchSize?: number;
  /** How long Lambda waits for a full batch, 0 by default. The local gateway does not wait. */
  readonly batchWindowSeconds?: number;
  /** The greatest normal age of a job. A job may wait a quarter of an hour on its queue until it is due. */
  readonly maxAgeMinutes: number;
  /** Whether late work wakes a person. */
  readonly isUrgent?: true;
  /** The effect on customers of jobs in the dead-letter queue. */
  readonly alarm: string;
}

export interface Schedule {
  readonly everyMinutes: number;
  /** The number of shards, each with its own call; one call without it. */
  readonly shards?: number;
  /** The effect on customers when it fails. Without it, an alarm on its own metric covers failed and missed calls. */
  readonly alarm?: string;
}
