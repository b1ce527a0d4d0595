import * as z from "zod/mini";

import { about, namedEnum, namedObject } from "./about.ts";
import { InboundMessage } from "./inbound.ts";
import { storedDetails } from "./message-details.ts";
import { PhoneNumber } from "./phone-numbers.ts";
import { Currency, idSchema, Timestamp } from "./primitives.ts";
import { DeliveryErrorCode, MessageErrorCode, Pricing } from "./sms.ts";
import { VerificationPricing } from "./verification-pricing.ts";

/*
 * The events of webhooks. The operations on webhooks are in another file, so that functions which only cause events leave
 * them out of their bundles.
 */

/** The mark of an event about a test message. */
const test = about(z.optional(z.literal(true)), "Present for a test message.");

/** The facts about a verification. The code is in no event. */
const VerificationData = z.object({
  id: idSchema("ver"),
  to: PhoneNumber,
  profile: z.string(),
  sends: z.int(),
  pricing: VerificationPricing,
  metadata: storedDetails.metadata,
  test,
});

function verificationEvent<Event extends string>(event: Event, names: { id: string; description: string }) {
  return z
    .object({ event: z.literal(event), timestamp: Timestamp, data: VerificationData })
    .register(z.globalRegistry, names);
}

const details = {
  reference: storedDetails.reference,
  metadata: storedDetails.metadata,
  pricing: about(
    z.optional(Pricing),
    "Present, as `refunded`, for a message with a `reference`, `metadata` or `callbackUrl`.",
  ),
  refunded: about(z.optional(z.boolean()), "Whether the price returns to the wallet."),
};
const marks = { ...details, test };
const subject = { id: idSchema("msg"), to: PhoneNumber };
export type EventDetails = z.infer<z.ZodMiniObject<typeof details>>;

export const EventName = namedEnum("EventName", [
  "message.sent",
  "message.failed",
  "message.delivered",
  "message.undelivered",
  "message.received",
  "spend.cap_reached",
  "balance.low",
  "campaign.completed",
  "message.held",
  "verification.approved",
  "verification.failed",
  "verification.expired",
  "verification.blocked",
]);
export type EventName = z.infer<typeof EventName>;

/** The body of a webhook call for an event. */
export const WebhookEvent = z.discriminatedUnion("event", [
  about(
    namedObject("MessageSentEvent", {
      event: z.literal("message.sent"),
      timestamp: Timestamp,
      data: z.object({ ...subject, status: z.literal("sent"), ...marks }),
    }),
    "A carrier accepted a message",
  ),
  about(
    namedObject("MessageFailedEvent", {
      event: z.literal("message.failed"),
      timestamp: Timestamp,
      data: z.object({ ...subject, errorCode: MessageErrorCode, ...marks }),
    }),
    "A message failed for good",
  ),
  about(
    namedObject("MessageDeliveredEvent", {
      event: z.literal("message.delivered"),
      timestamp: Timestamp,
      data: z.object({ ...subject, status: z.literal("delivered"), ...marks }),
    }),
    "The phone got a message. It may come before `message.sent`, and after `message.undelivered`",
  ),
  about(
    namedObject("MessageUndeliveredEvent", {
      event: z.literal("message.undelivered"),
      timestamp: Timestamp,
      data: z.object({ ...subject, errorCode: DeliveryErrorCode, ...marks }),
    }),
    "The phone did not get a message that was sent",
  ),
  about(
    namedObject("MessageReceivedEvent", {
      event: z.literal("message.received"),
      timestamp: Timestamp,
      data: InboundMessage,
    }),
    "Someone has written to a number of yours",
  ),
  about(
    namedObject("SpendCapReachedEvent", {
      event: z.literal("spend.cap_reached"),
      timestamp: Timestamp,
      data: z.object({
        id: idSchema("evt"),
        dailySpendCap: z.number(),
        spentToday: z.number(),
        currency: Currency,
        resetsAt: about(Timestamp.clone(), "When messages are accepted again, and campaigns continue."),
      }),
    }),
    "A message was rejected because of the daily spend cap, for the first time in a day",
  ),
  about(
    namedObject("BalanceLowEvent", {
      event: z.literal("balance.low"),
      timestamp: Timestamp,
      data: z.object({
        id: idSchema("evt"),
        balance: z.number(),
        lowBalanceThreshold: z.number(),
        currency: Currency,
      }),
    }),
    "The balance fell below the threshold that you set",
  ),
  about(
    namedObject("CampaignCompletedEvent", {
      event: z.literal("campaign.completed"),
      timestamp: Timestamp,
      data: z.object({
        id: idSchema("cmp"),
        name: z.string(),
        accepted: about(z.int(), "Messages that the campaign came to."),
        sent: z.int(),
        failed: z.int(),
        charged: about(
          z.number(),
          "The total price of the accepted messages. Failed messages were refunded.",
        ),
        currency: Currency,
      }),
    }),
    "A campaign has gone to all of its contacts, and each message was sent or has failed",
  ),
  about(
    namedObject("MessageHeldEvent", {
      event: z.literal("message.held"),
      timestamp: Timestamp,
      data: z.object({ id: idSchema("hld"), apiKeyId: idSchema("key"), expiresAt: Timestamp }),
    }),
    "A message waits until a person approves it, because its API key may not send it alone",
  ),
  verificationEvent("verification.approved", {
    id: "VerificationApprovedEvent",
    description: "A person gave the correct code, or you reported the success",
  }),
  verificationEvent("verification.failed", {
    id: "VerificationFailedEvent",
    description: "A verification failed: too many wrong codes, or you reported it",
  }),
  verificationEvent("verification.expired", {
    id: "VerificationExpiredEvent",
    description: "The code of a verification expired before it was given",
  }),
  verificationEvent("verification.blocked", {
    id: "VerificationBlockedEvent",
    description: "The guard blocked a verification, and nothing was sent",
  }),
]);
export type WebhookEvent = z.infer<typeof WebhookEvent>;
