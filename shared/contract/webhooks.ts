import * as z from "zod";

import { idSchema, PageQuery, PhoneNumber, Timestamp } from "./primitives.ts";
import { DeliveryErrorCode } from "./sms.ts";

export const EventName = z.enum(["message.sent", "message.failed"]);
export type EventName = z.infer<typeof EventName>;

const Url = z.string().max(2_048);
const Events = z
  .array(EventName)
  .min(1)
  .max(EventName.options.length)
  .refine((events) => new Set(events).size === events.length, "must not name an event twice");

export const CreateWebhookRequest = z.object({ url: Url, events: Events.default([...EventName.options]) });
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>;

export const UpdateWebhookRequest = z
  .object({ url: Url.optional(), events: Events.optional(), enabled: z.boolean().optional() })
  .refine(({ url, events, enabled }) => url !== undefined || events !== undefined || enabled !== undefined, {
    error: "must have at least one of url, events and enabled",
  });
export type UpdateWebhookRequest = z.infer<typeof UpdateWebhookRequest>;

/** Why an endpoint is called no more: it answered 410, it failed for five days, or the customer said so. */
export const DisabledReason = z.enum(["gone", "failing", "by_customer"]);
export type DisabledReason = z.infer<typeof DisabledReason>;

export const Webhook = z.object({
  id: idSchema("whk"),
  url: z.string(),
  events: z.array(EventName),
  status: z.enum(["enabled", "disabled"]),
  disabledReason: DisabledReason.optional(),
  disabledAt: Timestamp.optional(),
  createdAt: Timestamp,
});
export type Webhook = z.infer<typeof Webhook>;

/** The responses to creation and rotation, the only ones that ever carry a signing secret. */
export const CreatedWebhook = Webhook.extend({ secret: z.string() });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const DeletedWebhook = z.object({ id: idSchema("whk"), deleted: z.literal(true) });

/** The body of a call that tells the outcome of a message. */
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

/** The body of a call that a customer asked for to try an endpoint out. No endpoint subscribes to it. */
export const PingEvent = z.object({
  event: z.literal("ping"),
  timestamp: Timestamp,
  data: z.object({ id: idSchema("evt") }),
});

/** The body of any webhook call. */
export const WebhookPayload = z.discriminatedUnion("event", [...WebhookEvent.options, PingEvent]);
export type WebhookPayload = z.infer<typeof WebhookPayload>;

export const DeliveryState = z.enum(["pending", "succeeded", "failed"]);

/** An event on its way to one endpoint. */
export const WebhookDelivery = z.object({
  id: idSchema("dlv"),
  /** The `webhook-id` header of every attempt. */
  eventId: idSchema("evt"),
  payload: WebhookPayload,
  state: DeliveryState,
  /** Attempts that have begun. */
  attempts: z.int(),
  createdAt: Timestamp,
  lastAttemptAt: Timestamp.optional(),
  /** What the endpoint answered, when it answered. */
  lastStatus: z.int().optional(),
  lastError: z.string().optional(),
  /** Present while pending. */
  nextAttemptAt: Timestamp.optional(),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const DeliveriesQuery = PageQuery.safeExtend({ state: DeliveryState.optional() });
export type DeliveriesQuery = z.infer<typeof DeliveriesQuery>;
