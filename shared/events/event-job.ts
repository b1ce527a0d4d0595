import * as z from "zod";

import { WebhookEvent } from "../contract/webhooks.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";

/** What the queue of webhook deliveries carries of something that happened: whoever makes it happen queues it. */
export const EventJob = z.object({
  kind: z.literal("event"),
  organizationId: z.string(),
  eventId: z.string(),
  event: WebhookEvent,
});
export type EventJob = z.infer<typeof EventJob>;

/**
 * The job that hands an event out to the webhooks of an organisation. A message has one outcome, so its event takes
 * the message's ULID as its id: handing it out twice makes the same event.
 * @param eventId of an event that is not the only one of what it is about
 */
export function eventJob(
  organizationId: string,
  event: WebhookEvent,
  eventId = event.data.id.replace(/^(inb|msg)_/, "evt_"),
): QueuedJob {
  const body: EventJob = { kind: "event", organizationId, eventId, event };
  return { queue: "webhookDeliveries", group: organizationId, body };
}
