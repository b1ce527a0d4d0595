import * as z from "zod";

import { WebhookEvent } from "../contract/webhooks.ts";
import { enqueue } from "../platform/queue.ts";

/** What the webhook queue carries: an event to hand out, or its delivery to one endpoint. */
export const WebhookJob = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("event"),
    organizationId: z.string(),
    eventId: z.string(),
    event: WebhookEvent,
  }),
  z.object({
    kind: z.literal("delivery"),
    organizationId: z.string(),
    eventId: z.string(),
    event: WebhookEvent,
    webhookId: z.string(),
  }),
]);
export type WebhookJob = z.infer<typeof WebhookJob>;

/**
 * Queues the event of a message's outcome. A message has one outcome, so its event takes the message's ULID
 * as its id: announcing it twice makes the same event.
 */
export async function announce(outcome: { organizationId: string; event: WebhookEvent }): Promise<void> {
  const { organizationId, event } = outcome;
  const eventId = event.data.id.replace(/^msg_/, "evt_");
  const body: WebhookJob = { kind: "event", organizationId, eventId, event };
  await enqueue("webhookDeliveries", { group: organizationId, body });
}
