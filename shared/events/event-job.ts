import * as z from "zod/mini";

import { WebhookEvent, type EventName } from "../contract/events.ts";
import { idSchema } from "../contract/primitives.ts";
import { derivedId } from "../platform/ids.ts";
import { owedJob } from "../platform/jobs/due-job.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";
import type { Put } from "../platform/table/table.ts";

/** The job that hands an event out. It carries the event's id, so that events queued by an older release keep theirs. */
export const EventJob = z.object({
  kind: z.literal("event"),
  organizationId: z.string(),
  eventId: idSchema("evt"),
  event: WebhookEvent,
});
export type EventJob = z.infer<typeof EventJob>;

/**
 * The job that hands an event out to the webhooks of an organization. The same event, queued again, has the same id; two
 * events about one message have two.
 */
export function eventJob(organizationId: string, event: WebhookEvent): QueuedJob {
  const { data, timestamp } = event;
  // An event about something without an id of its own carries the event's.
  const eventId = data.id.startsWith("evt_")
    ? data.id
    : eventIdOf(organizationId, event.event, new Date(timestamp), data.id);
  const body: EventJob = { kind: "event", organizationId, eventId, event };
  return { queue: "webhookDeliveries", group: organizationId, body };
}

/** The id of what happened to a subject at a moment. @param subjectId what the event is about */
export function eventIdOf(
  organizationId: string,
  name: EventName,
  at: Date,
  subjectId = organizationId,
): string {
  return derivedId("evt", at, `${organizationId} ${name} ${subjectId}`);
}

/**
 * The write that belongs into the transaction an event follows from. It queues the event's job later, whatever becomes of
 * the one that is queued once the transaction has committed.
 */
export function owedEvent(job: QueuedJob): Put {
  const { eventId } = EventJob.parse(job.body);
  return owedJob(`event#${eventId}`, job);
}
