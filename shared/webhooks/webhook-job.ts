import * as z from "zod/mini";

import { EventJob } from "../notices/event-job.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";

/** The queue of an attempt. Attempts on `first` only call webhooks that are not failing. */
export const Lane = z.enum(["first", "retry"]);
export type Lane = z.infer<typeof Lane>;

const AttemptJob = z.object({
  kind: z.literal("attempt"),
  organizationId: z.string(),
  webhookId: z.string(),
  deliveryId: z.string(),
  /** The first attempt is 1. */
  attempt: z.int().check(z.positive()),
  lane: Lane,
  /** How often the attempt was rescheduled because the webhook had no free slot. */
  rescheduledCount: z.int().check(z.nonnegative()),
});
export type AttemptJob = z.infer<typeof AttemptJob>;

/** A job of the webhook queues: fans out an event, or attempts its delivery to one webhook. */
export const WebhookJob = z.discriminatedUnion("kind", [EventJob, AttemptJob]);
export type WebhookJob = z.infer<typeof WebhookJob>;

/** The job of an attempt, on the queue of its lane. */
export function attemptJob(
  attempt: Omit<AttemptJob, "kind" | "rescheduledCount"> & { readonly rescheduledCount?: number },
  delaySeconds = 0,
): QueuedJob {
  const body: AttemptJob = { rescheduledCount: 0, ...attempt, kind: "attempt" };
  const queue = attempt.lane === "first" ? "webhookDeliveries" : "webhookRetries";
  return { queue, group: attempt.organizationId, body, delaySeconds };
}
