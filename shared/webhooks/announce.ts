import * as z from "zod";

import { WebhookEvent } from "../contract/webhooks.ts";
import type { QueueName } from "../platform/jobs/queue-names.ts";
import { enqueue, type QueuedJob } from "../platform/jobs/queue.ts";
import { Lane } from "./open-calls.ts";

/** What the webhook queues carry: an event to hand out, or an attempt to deliver it to one endpoint. */
export const WebhookJob = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("event"),
    organizationId: z.string(),
    eventId: z.string(),
    event: WebhookEvent,
  }),
  z.object({
    kind: z.literal("attempt"),
    organizationId: z.string(),
    webhookId: z.string(),
    deliveryId: z.string(),
    /** The first attempt is 1. */
    attempt: z.int().positive(),
    lane: Lane,
    /** How often the attempt was put off because the endpoint had no place for it. */
    putOff: z.int().nonnegative().default(0),
  }),
]);
export type WebhookJob = z.infer<typeof WebhookJob>;

/** The queue of each lane. */
export const laneQueues = { first: "webhookDeliveries", retry: "webhookRetries" } as const satisfies Record<
  Lane,
  QueueName
>;

/** The job of an attempt. */
export function attemptJob(attempt: {
  readonly organizationId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly lane: Lane;
  readonly putOff?: number;
}): QueuedJob {
  const body: WebhookJob = { putOff: 0, ...attempt, kind: "attempt" };
  return { group: attempt.organizationId, body };
}

/**
 * Queues the event of a message's outcome. A message has one outcome, so its event takes the message's ULID
 * as its id: announcing it twice makes the same event.
 */
export async function announce(outcome: { organizationId: string; event: WebhookEvent }): Promise<void> {
  const { organizationId, event } = outcome;
  const eventId = event.data.id.replace(/^msg_/, "evt_");
  const body: WebhookJob = { kind: "event", organizationId, eventId, event };
  await enqueue(laneQueues.first, { group: organizationId, body });
}
