import * as z from "zod";

import { idSchema, PhoneNumber, Timestamp } from "./primitives.ts";
import { DeliveryErrorCode } from "./sms.ts";

export const EventName = z.enum(["message.sent", "message.failed"]);
export type EventName = z.infer<typeof EventName>;

export const CreateWebhookRequest = z
  .object({
    url: z.string().max(2_048).meta({
      format: "uri",
      description: "Your https endpoint, at a public address. A local gateway also takes http and loopback.",
    }),
    events: z
      .array(EventName)
      .min(1)
      .max(EventName.options.length)
      .refine((events) => new Set(events).size === events.length, "must not name an event twice")
      .meta({ uniqueItems: true, description: "The events that the endpoint gets; all of them by default." })
      .default([...EventName.options]),
  })
  .meta({ id: "CreateWebhookRequest", examples: [{ url: "https://shop.example/sms-events" }] });
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>;

export const Webhook = z
  .object({
    id: idSchema("whk"),
    url: z.string(),
    events: z.array(EventName),
    createdAt: Timestamp,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

/** The only response that ever carries the signing secret. */
export const CreatedWebhook = Webhook.extend({
  secret: z.string().meta({ description: "Shown this once. Its whole string keys `X-Service-Signature`." }),
}).meta({ id: "CreatedWebhook" });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const DeletedWebhook = z
  .object({ id: idSchema("whk"), deleted: z.literal(true) })
  .meta({ id: "DeletedWebhook" });

/** The body of a webhook call. */
export const WebhookEvent = z.discriminatedUnion("event", [
  z
    .object({
      event: z.literal("message.sent"),
      timestamp: Timestamp,
      data: z.object({ id: idSchema("msg"), to: PhoneNumber, status: z.literal("sent") }),
    })
    .meta({ id: "MessageSentEvent", description: "A message was handed to the carrier" }),
  z
    .object({
      event: z.literal("message.failed"),
      timestamp: Timestamp,
      data: z.object({ id: idSchema("msg"), to: PhoneNumber, errorCode: DeliveryErrorCode }),
    })
    .meta({ id: "MessageFailedEvent", description: "A message failed for good" }),
]);
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** The headers of a webhook call. The last three are those of Standard Webhooks. */
export const webhookHeaders = {
  "X-Service-Event": EventName.meta({ description: "The name of the event." }),
  "X-Service-Signature": z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .meta({ description: "Hex HMAC-SHA256 of the raw body, keyed with the endpoint's secret as it stands." }),
  "webhook-id": idSchema("evt").meta({ description: "The event; the same in every attempt to deliver it." }),
  "webhook-timestamp": z
    .string()
    .regex(/^\d+$/)
    .meta({ description: "When this attempt was made, in seconds since 1970." }),
  "webhook-signature": z
    .string()
    .regex(/^v1,[0-9A-Za-z+/]{43}=$/)
    .meta({
      description:
        "`v1,` and the Base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, keyed with the bytes that " +
        "the secret encodes after `whsec_`.",
    }),
} as const;
