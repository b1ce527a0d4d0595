import * as z from "zod";

import { InboundMessage } from "./inbound.ts";
import { PhoneNumber } from "./phone-numbers.ts";
import { Currency, idSchema, PageQuery, Timestamp } from "./primitives.ts";
import { DeliveryErrorCode, MessageErrorCode } from "./sms.ts";

export const EventName = z.enum([
  "message.sent",
  "message.failed",
  "message.delivered",
  "message.undelivered",
  "message.received",
  "spend.cap_reached",
  "balance.low",
  "campaign.completed",
]);
export type EventName = z.infer<typeof EventName>;

const Url = z
  .string()
  .max(2_048)
  // A URL parser passes over some of them, so that a person would read another address than the one that is called.
  .regex(/^[^\p{C}\p{Z}]*$/u, "must have no spaces, line breaks or characters that cannot be seen")
  .meta({
    format: "uri",
    description: "Your https endpoint, at a public address. A local gateway also takes http and loopback.",
  });
const Events = z
  .array(EventName)
  .min(1)
  .max(EventName.options.length)
  .refine((events) => new Set(events).size === events.length, "must not name an event twice")
  .meta({
    uniqueItems: true,
    description: "The events that the endpoint gets; by default `message.sent` and `message.failed`.",
  });

export const CreateWebhookRequest = z
  .object({ url: Url, events: Events.default(["message.sent", "message.failed"]) })
  .meta({ id: "CreateWebhookRequest", examples: [{ url: "https://shop.example/sms-events" }] });
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>;

/** Fields that are not there stay as they are. */
export const UpdateWebhookRequest = z
  .object({
    url: Url.optional(),
    events: Events.optional(),
    enabled: z.boolean().optional().meta({
      description: "Whether the endpoint is called. Enabling it again forgets why it was disabled.",
    }),
  })
  .meta({ id: "UpdateWebhookRequest", examples: [{ enabled: true }] });
export type UpdateWebhookRequest = z.infer<typeof UpdateWebhookRequest>;

export const DisabledReason = z.enum(["gone", "failing", "by_customer"]).meta({
  description:
    "Why the endpoint is no longer called: it answered 410 (`gone`), all calls failed for five days (`failing`), or " +
    "you disabled it (`by_customer`).",
});
export type DisabledReason = z.infer<typeof DisabledReason>;

export const WebhookParams = z.object({ id: idSchema("whk") });

export const Webhook = z
  .object({
    id: idSchema("whk"),
    url: z.string(),
    events: z.array(EventName),
    status: z.enum(["enabled", "disabled"]),
    disabledReason: DisabledReason.optional(),
    disabledAt: Timestamp.optional(),
    failingSince: Timestamp.optional().meta({
      description:
        "While the last call failed: when the first call failed after the last one that succeeded.",
    }),
    lastFailure: z
      .object({
        at: Timestamp,
        status: z.int().optional().meta({ description: "What the endpoint answered, when it answered." }),
        error: z.string(),
      })
      .optional()
      .meta({ description: "The last call, while it is one that failed." }),
    createdAt: Timestamp,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

/** The responses to creation and rotation, the only ones that ever carry a signing secret. */
export const CreatedWebhook = Webhook.extend({
  secret: z.string().meta({ description: "Shown this once. Its whole string keys `X-Service-Signature`." }),
}).meta({ id: "CreatedWebhook" });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const DeletedWebhook = z
  .object({ id: idSchema("whk"), deleted: z.literal(true) })
  .meta({ id: "DeletedWebhook" });

/** The body of a call that tells what happened. */
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
      data: z.object({ id: idSchema("msg"), to: PhoneNumber, errorCode: MessageErrorCode }),
    })
    .meta({ id: "MessageFailedEvent", description: "A message failed for good" }),
  z
    .object({
      event: z.literal("message.delivered"),
      timestamp: Timestamp,
      data: z.object({ id: idSchema("msg"), to: PhoneNumber, status: z.literal("delivered") }),
    })
    .meta({
      id: "MessageDeliveredEvent",
      description:
        "The phone got a message. It may come before `message.sent`, and after `message.undelivered`",
    }),
  z
    .object({
      event: z.literal("message.undelivered"),
      timestamp: Timestamp,
      data: z.object({ id: idSchema("msg"), to: PhoneNumber, errorCode: DeliveryErrorCode }),
    })
    .meta({ id: "MessageUndeliveredEvent", description: "The phone did not get a message that was sent" }),
  z
    .object({ event: z.literal("message.received"), timestamp: Timestamp, data: InboundMessage })
    .meta({ id: "MessageReceivedEvent", description: "Somebody has written to a number of yours" }),
  z
    .object({
      event: z.literal("spend.cap_reached"),
      timestamp: Timestamp,
      data: z.object({
        id: idSchema("evt"),
        dailySpendCap: z.number(),
        spentToday: z.number(),
        currency: Currency,
        resetsAt: Timestamp.meta({ description: "When messages are accepted again, and campaigns go on." }),
      }),
    })
    .meta({
      id: "SpendCapReachedEvent",
      description: "A message was refused because of the daily spend cap, for the first time in a day",
    }),
  z
    .object({
      event: z.literal("balance.low"),
      timestamp: Timestamp,
      data: z.object({
        id: idSchema("evt"),
        balance: z.number(),
        lowBalanceThreshold: z.number(),
        currency: Currency,
      }),
    })
    .meta({ id: "BalanceLowEvent", description: "The balance fell below the threshold that you set" }),
  z
    .object({
      event: z.literal("campaign.completed"),
      timestamp: Timestamp,
      data: z.object({
        id: idSchema("cmp"),
        name: z.string(),
        accepted: z.int().meta({ description: "Messages that the campaign came to." }),
        sent: z.int(),
        failed: z.int(),
        charged: z
          .number()
          .meta({ description: "What the accepted messages cost; what failed was refunded." }),
        currency: Currency,
      }),
    })
    .meta({
      id: "CampaignCompletedEvent",
      description: "A campaign has gone to all of its contacts, and each message was sent or has failed",
    }),
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

/** The body of a call that a customer asked for to try an endpoint out. No endpoint subscribes to it. */
export const PingEvent = z
  .object({
    event: z.literal("ping"),
    timestamp: Timestamp,
    data: z.object({ id: idSchema("evt") }),
  })
  .meta({ id: "PingEvent", description: "A call that you asked for to try an endpoint out" });

/** The body of any webhook call. */
export const WebhookPayload = z.discriminatedUnion("event", [...WebhookEvent.options, PingEvent]);
export type WebhookPayload = z.infer<typeof WebhookPayload>;

export const DeliveryState = z.enum(["pending", "succeeded", "failed"]).meta({ id: "DeliveryState" });

/** An event on its way to one endpoint. */
export const WebhookDelivery = z
  .object({
    id: idSchema("dlv"),
    eventId: idSchema("evt").meta({ description: "The `webhook-id` header of every attempt." }),
    payload: WebhookPayload,
    state: DeliveryState,
    attempts: z.int().meta({ description: "Attempts that have begun." }),
    createdAt: Timestamp,
    lastAttemptAt: Timestamp.optional(),
    lastStatus: z.int().optional().meta({ description: "What the endpoint answered, when it answered." }),
    lastError: z.string().optional(),
    lastDurationMs: z.int().optional().meta({
      description: "How long the last call took, in milliseconds, until it was answered or failed.",
    }),
    nextAttemptAt: Timestamp.optional().meta({ description: "Present while pending." }),
  })
  .meta({ id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const DeliveryParams = WebhookParams.extend({ deliveryId: idSchema("dlv") });

export const DeliveriesQuery = PageQuery.safeExtend({ state: DeliveryState.optional() });
export type DeliveriesQuery = z.infer<typeof DeliveriesQuery>;
