import * as z from "zod/mini";

import { WebhookEvent, type EventName } from "../api/contract/events.ts";
import { idSchema } from "../api/contract/primitives.ts";
import { derivedId } from "../platform/ids.ts";
import type { QueuedJob } from "../platform/jobs/job.ts";
import { owedJob } from "../platform/jobs/scheduled-job.ts";
import type { Put } from "../platform/table/write.ts";

/** The job that fans out an event. It has the event's id, so that a queued event keeps its id during a deployment. */
export const EventJob = z.object({
  kind: z.literal("event"),
  organizationId: z.string(),
  eventId: idSchema("evt"),
  event: WebhookEvent,
  /** Where it also goes, besides the webhooks. */
  callbackUrl: z.optional(z.string()),
});
export type EventJob = z.infer<typeof EventJob>;

/**
 * Returns the job that fans out an event to an organization's webhooks. The same event, queued again, has the same id;
 * two events about one message have different ids.
 * @param callbackUrl that of the event's message
 */
export function eventJob(organizationId: string, event: WebhookEvent, callbackUrl?: string): QueuedJob {
  const { data, timestamp } = event;
  // An event about a subject without an id has its own id in `data`.
  const eventId = data.id.startsWith("evt_")
    ? data.id
    : eventIdOf(organizationId, event.event, new Date(timestamp), data.id);
  const body: EventJob = { kind: "event", organizationId, eventId, event, callbackUrl };
  return { queue: "webhookDeliveries", group: organizationId, body };
}

/** Returns the id of an event, from its subject and time. @param subjectId the id of the event's subject */
export function eventIdOf(
  organizationId: string,
  name: EventName,
  at: Date,
  subjectId = organizationId,
): string {
  return derivedId("evt", at, `${organizationId} ${name} ${subjectId}`);
}

/**
 * Returns a write for the transaction that causes an event. It queues the event's job again later, whatever happens to
 * the job that is queued after the transaction.
 */
export function owedEvent(job: QueuedJob): Put {
  const { eventId } = EventJob.parse(job.body);
  return owedJob(`event#${eventId}`, job);
}
