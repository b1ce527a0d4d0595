import * as z from "zod/mini";

import { EventName, WebhookEvent } from "./events.ts";
import { EndpointUrl, idSchema, PageQuery, Timestamp } from "./primitives.ts";

const Events = z
  .array(EventName)
  .check(
    z.minLength(1),
    z.maxLength(EventName.options.length),
    z.refine((events) => new Set(events).size === events.length, "must not name an event twice"),
  )
  .register(z.globalRegistry, {
    uniqueItems: true,
    description: "The events that the endpoint gets; by default `message.sent` and `message.failed`.",
  });

export const CreateWebhookRequest = z
  .strictObject({ url: EndpointUrl, events: z._default(Events, ["message.sent", "message.failed"]) })
  .register(z.globalRegistry, {
    id: "CreateWebhookRequest",
    examples: [{ url: "https://shop.example/sms-events" }],
  });
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>;

/** Fields that are not there stay as they are. */
export const UpdateWebhookRequest = z
  .strictObject({
    url: z.optional(EndpointUrl),
    events: z.optional(Events),
    enabled: z.optional(z.boolean()).register(z.globalRegistry, {
      description: "Whether the endpoint is called. Enabling it again clears the reason why it was disabled.",
    }),
  })
  .register(z.globalRegistry, { id: "UpdateWebhookRequest", examples: [{ enabled: true }] });
export type UpdateWebhookRequest = z.infer<typeof UpdateWebhookRequest>;

export const DisabledReason = z
  .enum(["gone", "failing", "by_customer", "by_operator"])
  .register(z.globalRegistry, {
    id: "WebhookDisabledReason",
    description:
      "Why the endpoint is no longer called: it responded with 410 (`gone`), all calls failed for five days (`failing`), or " +
      "you disabled it (`by_customer`). `by_operator`: the operator of the gateway disabled it.",
  });
export type DisabledReason = z.infer<typeof DisabledReason>;

export const WebhookParams = z.object({ id: idSchema("whk") });

/** The path of a webhook, or of all callbacks together. */
export const EndpointParams = z.object({
  id: z
    .string()
    .check(z.regex(/^whk_[0-9A-HJKMNP-TV-Z]{26}$|^callbacks$/, "must be the ID of a webhook, or `callbacks`"))
    .register(z.globalRegistry, {
      description: "A webhook, or `callbacks` for the calls to the `callbackUrl` of messages.",
    }),
});

export const Webhook = z
  .object({
    id: idSchema("whk"),
    test: z.optional(z.literal(true)).register(z.globalRegistry, {
      description: "Present if a test key registered it. It gets events about test messages only.",
    }),
    url: z.string(),
    events: z.array(EventName),
    status: z.enum(["enabled", "disabled"]).register(z.globalRegistry, { id: "WebhookStatus" }),
    disabledReason: z.optional(DisabledReason),
    disabledAt: z.optional(Timestamp),
    failingSince: z.optional(Timestamp).register(z.globalRegistry, {
      description:
        "While the last call failed: when the first call failed after the last one that succeeded.",
    }),
    lastFailure: z
      .optional(
        z.object({
          at: Timestamp,
          status: z
            .optional(z.int())
            .register(z.globalRegistry, { description: "The endpoint's response, if there was one." }),
          error: z.string(),
        }),
      )
      .register(z.globalRegistry, { description: "The last call, while it is one that failed." }),
    createdAt: Timestamp,
  })
  .register(z.globalRegistry, { id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

/** The responses to creation and rotation, the only ones that ever carry a signing secret. */
export const CreatedWebhook = z
  .extend(Webhook, {
    secret: z.string().register(z.globalRegistry, {
      description: "Shown this once. Its whole string keys `X-Service-Signature`.",
    }),
  })
  .register(z.globalRegistry, { id: "CreatedWebhook" });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const CallbackSecret = z
  .object({ id: z.literal("callbacks"), secret: CreatedWebhook.shape.secret })
  .register(z.globalRegistry, { id: "CallbackSecret" });

export const DeletedWebhook = z
  .object({ id: idSchema("whk"), deleted: z.literal(true) })
  .register(z.globalRegistry, { id: "DeletedWebhook" });

/** The headers of a webhook call. The last three are those of Standard Webhooks. */
export const webhookHeaders = {
  "X-Service-Event": z
    .union([EventName, z.literal("ping")])
    .register(z.globalRegistry, { description: "The name of the event." }),
  "X-Service-Signature": z
    .string()
    .check(z.regex(/^[0-9a-f]{64}$/))
    .register(z.globalRegistry, {
      description: "Hex HMAC-SHA256 of the raw body, keyed with the endpoint's secret as it stands.",
    }),
  "webhook-id": idSchema("evt").register(z.globalRegistry, {
    description: "The event; the same in every attempt to deliver it.",
  }),
  "webhook-timestamp": z
    .string()
    .check(z.regex(/^\d+$/))
    .register(z.globalRegistry, { description: "When this attempt was made, in seconds since 1970." }),
  "webhook-signature": z
    .string()
    .check(z.regex(/^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)*$/))
    .register(z.globalRegistry, {
      description:
        "`v1,` and the Base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, keyed with the bytes that " +
        "the secret encodes after `whsec_`. For a day after a rotation, the signature by the previous secret " +
        "follows after a space.",
    }),
} as const;

/** The body of a call that a customer requests to test an endpoint. Endpoints cannot subscribe to it. */
const PingEvent = z
  .object({
    event: z.literal("ping"),
    timestamp: Timestamp,
    data: z.object({ id: idSchema("evt") }),
  })
  .register(z.globalRegistry, {
    id: "PingEvent",
    description: "A test call that you requested",
  });

/** The body of any webhook call. */
export const WebhookPayload = z
  .discriminatedUnion("event", [...WebhookEvent.def.options, PingEvent])
  .register(z.globalRegistry, { id: "WebhookPayload" });
export type WebhookPayload = z.infer<typeof WebhookPayload>;

export const WebhookDeliveryState = z
  .enum(["pending", "succeeded", "failed"])
  .register(z.globalRegistry, { id: "WebhookDeliveryState" });

/** An event on its way to one endpoint. */
export const WebhookDelivery = z
  .object({
    id: idSchema("dlv"),
    eventId: idSchema("evt").register(z.globalRegistry, {
      description: "The `webhook-id` header of every attempt.",
    }),
    url: z
      .optional(z.string())
      .register(z.globalRegistry, { description: "The `callbackUrl` of the message, for a callback." }),
    payload: WebhookPayload,
    state: WebhookDeliveryState,
    attempts: z.int().register(z.globalRegistry, { description: "Attempts that have begun." }),
    createdAt: Timestamp,
    lastAttemptAt: z.optional(Timestamp),
    lastStatus: z
      .optional(z.int())
      .register(z.globalRegistry, { description: "The endpoint's response, if there was one." }),
    lastError: z.optional(z.string()),
    lastDurationMs: z.optional(z.int()).register(z.globalRegistry, {
      description: "How long the last call took until the response or failure, in milliseconds.",
    }),
    nextAttemptAt: z
      .optional(Timestamp)
      .register(z.globalRegistry, { description: "Present while pending." }),
  })
  .register(z.globalRegistry, { id: "WebhookDelivery" });
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const DeliveryParams = z.extend(EndpointParams, { deliveryId: idSchema("dlv") });

export const DeliveriesQuery = z.safeExtend(PageQuery, { state: z.optional(WebhookDeliveryState) });
export type DeliveriesQuery = z.infer<typeof DeliveriesQuery>;
