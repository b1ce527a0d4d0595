import * as z from "zod";

import { idSchema, PhoneNumber, Timestamp } from "./primitives.ts";
import { DeliveryErrorCode } from "./sms.ts";

export const EventName = z.enum(["message.sent", "message.failed"]);
export type EventName = z.infer<typeof EventName>;

export const CreateWebhookRequest = z.object({
  url: z.string().max(2_048),
  events: z
    .array(EventName)
    .min(1)
    .max(EventName.options.length)
    .refine((events) => new Set(events).size === events.length, "must not name an event twice")
    .default([...EventName.options]),
});
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>;

export const Webhook = z.object({
  id: idSchema("whk"),
  url: z.string(),
  events: z.array(EventName),
  createdAt: Timestamp,
});
export type Webhook = z.infer<typeof Webhook>;

/** The only response that ever carries the signing secret. */
export const CreatedWebhook = Webhook.extend({ secret: z.string() });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const DeletedWebhook = z.object({ id: idSchema("whk"), deleted: z.literal(true) });

/** The body of a webhook call. */
export const WebhookEvent = z.discriminatedUnion("event", [
  z.object({
    event: z.literal("message.sent"),
    timestamp: Timestamp,
    data: z.object({ id: idSchema("msg"), to: PhoneNumber, status: z.literal("sent") }),
  }),
  z.object({
    event: z.literal("message.failed"),
    timestamp: Timestamp,
    data: z.object({ id: idSchema("msg"), to: PhoneNumber, errorCode: DeliveryErrorCode }),
  }),
]);
export type WebhookEvent = z.infer<typeof WebhookEvent>;
