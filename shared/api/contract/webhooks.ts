import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
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

export const CreateWebhookRequest = withExample(
  namedStrictObject("CreateWebhookRequest", {
    url: EndpointUrl,
    events: z._default(Events, ["message.sent", "message.failed"]),
  }),
  { url: "https://shop.example/sms-events" },
);
export type CreateWebhookRequest = z.infer<typeof CreateWebhookRequest>;

/** Fields that are not there stay as they are. */
export const UpdateWebhookRequest = withExample(
  namedStrictObject("UpdateWebhookRequest", {
    url: z.optional(EndpointUrl),
    events: z.optional(Events),
    enabled: about(
      z.optional(z.boolean()),
      "Whether the endpoint is called. Enabling it again clears the reason why it was disabled.",
    ),
  }),
  { enabled: true },
);
export type UpdateWebhookRequest = z.infer<typeof UpdateWebhookRequest>;

export const DisabledReason = about(
  namedEnum("WebhookDisabledReason", ["gone", "failing", "by_customer", "by_operator"]),
  "Why the endpoint is no longer called: it responded with 410 (`gone`), all calls failed for five days (`failing`), or " +
    "you disabled it (`by_customer`). `by_operator`: the operator of the gateway disabled it.",
);
export type DisabledReason = z.infer<typeof DisabledReason>;

export const WebhookParams = z.object({ id: idSchema("whk") });

/** The path of a webhook, or of all callbacks together. */
export const EndpointParams = z.object({
  id: about(
    z
      .string()
      .check(
        z.regex(/^whk_[0-9A-HJKMNP-TV-Z]{26}$|^callbacks$/, "must be the ID of a webhook, or `callbacks`"),
      ),
    "A webhook, or `callbacks` for the calls to the `callbackUrl` of messages.",
  ),
});

export const Webhook = namedObject("Webhook", {
  id: idSchema("whk"),
  test: about(
    z.optional(z.literal(true)),
    "Present if a test key registered it. It gets events about test messages only.",
  ),
  url: z.string(),
  events: z.array(EventName),
  status: namedEnum("WebhookStatus", ["enabled", "disabled"]),
  disabledReason: z.optional(DisabledReason),
  disabledAt: z.optional(Timestamp),
  failingSince: about(
    z.optional(Timestamp),
    "While the last call failed: when the first call failed after the last one that succeeded.",
  ),
  lastFailure: about(
    z.optional(
      z.object({
        at: Timestamp,
        status: about(z.optional(z.int()), "The endpoint's response, if there was one."),
        error: z.string(),
      }),
    ),
    "The last call, while it is one that failed.",
  ),
  createdAt: Timestamp,
});
export type Webhook = z.infer<typeof Webhook>;

/** The responses to creation and rotation, the only ones that ever carry a signing secret. */
export const CreatedWebhook = z
  .extend(Webhook, {
    secret: about(z.string(), "Shown this once. Its whole string keys `X-Service-Signature`."),
  })
  .register(z.globalRegistry, { id: "CreatedWebhook" });
export type CreatedWebhook = z.infer<typeof CreatedWebhook>;

export const CallbackSecret = namedObject("CallbackSecret", {
  id: z.literal("callbacks"),
  secret: CreatedWebhook.shape.secret,
});

export const DeletedWebhook = namedObject("DeletedWebhook", {
  id: idSchema("whk"),
  deleted: z.literal(true),
});

/** The headers of a webhook call. The last three are those of Standard Webhooks. */
export const webhookHeaders = {
  "X-Service-Event": about(z.union([EventName, z.literal("ping")]), "The name of the event."),
  "X-Service-Signature": about(
    z.string().check(z.regex(/^[0-9a-f]{64}$/)),
    "Hex HMAC-SHA256 of the raw body, keyed with the endpoint's secret as it stands.",
  ),
  "webhook-id": about(idSchema("evt"), "The event; the same in every attempt to deliver it."),
  "webhook-timestamp": about(
    z.string().check(z.regex(/^\d+$/)),
    "When this attempt was made, in seconds since 1970.",
  ),
  "webhook-signature": about(
    z.string().check(z.regex(/^v1,[0-9A-Za-z+/]{43}=( v1,[0-9A-Za-z+/]{43}=)*$/)),
    "`v1,` and the Base64 HMAC-SHA256 of `webhook-id.webhook-timestamp.body`, keyed with the bytes that " +
      "the secret encodes after `whsec_`. For a day after a rotation, the signature by the previous secret " +
      "follows after a space.",
  ),
} as const;

/** The body of a call that a customer requests to test an endpoint. Endpoints cannot subscribe to it. */
const PingEvent = about(
  namedObject("PingEvent", {
    event: z.literal("ping"),
    timestamp: Timestamp,
    data: z.object({ id: idSchema("evt") }),
  }),
  "A test call that you requested",
);

/** The body of any webhook call. */
export const WebhookPayload = z
  .discriminatedUnion("event", [...WebhookEvent.def.options, PingEvent])
  .register(z.globalRegistry, { id: "WebhookPayload" });
export type WebhookPayload = z.infer<typeof WebhookPayload>;

export const WebhookDeliveryState = namedEnum("WebhookDeliveryState", ["pending", "succeeded", "failed"]);

/** An event on its way to one endpoint. */
export const WebhookDelivery = namedObject("WebhookDelivery", {
  id: idSchema("dlv"),
  eventId: about(idSchema("evt"), "The `webhook-id` header of every attempt."),
  url: about(z.optional(z.string()), "The `callbackUrl` of the message, for a callback."),
  payload: WebhookPayload,
  state: WebhookDeliveryState,
  attempts: about(z.int(), "Attempts that have begun."),
  createdAt: Timestamp,
  lastAttemptAt: z.optional(Timestamp),
  lastStatus: about(z.optional(z.int()), "The endpoint's response, if there was one."),
  lastError: z.optional(z.string()),
  lastDurationMs: about(
    z.optional(z.int()),
    "How long the last call took until the response or failure, in milliseconds.",
  ),
  nextAttemptAt: about(z.optional(Timestamp), "Present while pending."),
});
export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

export const DeliveryParams = z.extend(EndpointParams, { deliveryId: idSchema("dlv") });

export const DeliveriesQuery = z.safeExtend(PageQuery, { state: z.optional(WebhookDeliveryState) });
export type DeliveriesQuery = z.infer<typeof DeliveriesQuery>;
