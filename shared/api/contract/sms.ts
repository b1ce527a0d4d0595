import * as z from "zod/mini";

import { about, namedEnum, namedObject, namedStrictObject, withExample } from "./about.ts";
import { messageDetails, storedDetails } from "./message-details.ts";
import { PhoneNumber } from "./phone-numbers.ts";
import { Currency, idSchema, messageText, Timestamp } from "./primitives.ts";
import { SenderId, SenderNumber } from "./senders.ts";
import { notNull } from "./validation.ts";

export const Moment = z.iso.datetime({
  offset: true,
  error: "must be an ISO 8601 date-time with a time zone",
});

export const MessageType = namedEnum("MessageType", ["otp", "transactional", "marketing"]);
export type MessageType = z.infer<typeof MessageType>;

export const Language = about(
  namedEnum("Language", ["English", "Unicode"]),
  "`English` is sent as GSM-7 where its characters allow, `Unicode` always as UCS-2.",
);

const minValiditySeconds = 60;
/** The longest validity of a message: 72 hours, the default of carriers. */
export const maxValiditySeconds = 259_200;

const validityRule = `must be a whole number of seconds from ${minValiditySeconds} to ${maxValiditySeconds}`;

export const ExpiresInSeconds = about(
  z.int(validityRule).check(z.gte(minValiditySeconds, validityRule), z.lte(maxValiditySeconds, validityRule)),
  "How long the message is valid: from 60 seconds to 72 hours after `scheduledAt`, or after it is accepted. " +
    "After that it is not submitted to a carrier; it fails with `MESSAGE_EXPIRED` and is refunded. Carriers get " +
    "the remaining time as its validity.",
);

export const SendSmsRequest = withExample(
  namedStrictObject("SendSmsRequest", {
    to: PhoneNumber,
    message: about(messageText(1_600), "Up to 1,600 characters."),
    senderId: about(
      z.optional(SenderId),
      "The name that the message comes from. Default: the organization's approved sender ID.",
    ),
    from: z.optional(SenderNumber),
    language: z._default(Language, "English"),
    scheduledAt: about(
      notNull(z.optional(Moment)),
      "When to send, up to 30 days ahead. The message is charged immediately.",
    ),
    messageType: about(
      z.optional(MessageType),
      "`marketing` has its own queue, so that it never delays a one-time code, and is not sent to numbers that have " +
        "opted out. By default an `otp` expires after ten minutes; the operator may set another time.",
    ),
    expiresInSeconds: notNull(z.optional(ExpiresInSeconds)),
    ...messageDetails,
    test: about(
      notNull(z.optional(z.boolean())),
      "With `true`, a person who is logged in sends a test message: it is free, reaches no phone and needs no approval. A " +
        "live API key may not send one, and a test key sends no others.",
    ),
  }),
  { to: "15005550007", message: "Your code is 123456", senderId: "ADASHOP", messageType: "otp" },
);
export type SendSmsRequest = z.infer<typeof SendSmsRequest>;

/** How a text travels: in 7-bit characters, or in 16-bit ones where it has others. */
export const Encoding = namedEnum("Encoding", ["GSM-7", "UCS-2"]);
export type Encoding = z.infer<typeof Encoding>;

export const MessageStatus = about(
  namedEnum("MessageStatus", ["queued", "sent", "failed", "cancelled"]),
  "`sent`, `failed` and `cancelled` are final; only a scheduled message can be cancelled.",
);

/** Why a message failed, in words that name no carrier. */
export const MessageErrorCode = about(
  namedEnum("MessageErrorCode", [
    "MESSAGE_INVALID_DESTINATION",
    "MESSAGE_UNROUTABLE",
    "MESSAGE_EXPIRED",
    "MESSAGE_PROVIDER_ERROR",
    "MESSAGE_OUTCOME_UNKNOWN",
    "MESSAGE_SENDER_ID_NOT_APPROVED",
    "MESSAGE_RECIPIENT_OPTED_OUT",
    "ORGANIZATION_SUSPENDED",
    "SENDING_PAUSED",
  ]),
  "Why a message failed. The [guide to errors](/docs/guides/errors#failed-messages) lists the reasons.",
);
export type MessageErrorCode = z.infer<typeof MessageErrorCode>;

export const DeliveryStatus = about(
  namedEnum("DeliveryStatus", ["pending", "delivered", "undelivered", "unknown"]),
  "Whether the phone got the message. `pending` until a delivery receipt arrives. `unknown` if none arrives within a " +
    "week, or the carrier does not know. A late receipt can change `unknown` to `undelivered`, and any status to " +
    "`delivered`.",
);

/** Why a phone did not get a message. The codes are the same for all carriers. */
export const DeliveryErrorCode = about(
  namedEnum("DeliveryErrorCode", [
    "DELIVERY_EXPIRED",
    "DELIVERY_INVALID_DESTINATION",
    "DELIVERY_REJECTED",
    "DELIVERY_UNREACHABLE",
    "DELIVERY_FAILED",
  ]),
  "Why the phone did not get the message. The [guide to errors](/docs/guides/errors#failed-messages) lists the reasons.",
);
export type DeliveryErrorCode = z.infer<typeof DeliveryErrorCode>;

const Delivery = about(
  namedObject("Delivery", {
    status: DeliveryStatus,
    at: about(Timestamp.clone(), "When this status began."),
    errorCode: z.optional(DeliveryErrorCode),
  }),
  "The delivery of the message after a carrier accepted it. It changes neither the `status` of the message nor its " +
    "price.",
);

const Attempt = about(
  namedObject("Attempt", {
    at: about(
      Timestamp.clone(),
      "When the carrier responded. If the outcome is `unknown`, when the message was submitted.",
    ),
    outcome: namedEnum("AttemptOutcome", ["accepted", "rejected", "throttled", "unknown", "unreachable"]),
  }),
  "One submission of the message to a carrier. `accepted`: the carrier accepted the message. `rejected`: it rejected " +
    "the message permanently. `throttled`: it accepts no more messages for now. `unreachable`: it could not be reached. " +
    "`unknown`: it did not report whether it accepted the message.",
);

export const Pricing = namedObject("Pricing", {
  segments: about(
    z.int(),
    "The number of parts of the text. A single part has up to 160 GSM-7 or 70 UCS-2 characters; each of several has " +
      "up to 153 or 67.",
  ),
  unitPrice: about(z.number(), "Price of one segment."),
  total: about(
    z.number(),
    "The amount that the wallet was debited. For a test message, the amount that a live one would cost.",
  ),
  currency: Currency,
});

const Test = about(z.optional(z.literal(true)), "Present for a test message.");

const ExpiresAt = about(
  Timestamp.clone(),
  "When the message expires, if it does. From then on it is not submitted to a carrier.",
);

export const AcceptedMessage = namedObject("AcceptedMessage", {
  id: z.union([idSchema("msg"), idSchema("hld")]),
  status: about(
    namedEnum("AcceptedMessageStatus", ["queued", "held"]),
    "`queued`. Only a key with `holdAbove` in its limits also gets `held`: the message is not charged and waits for the " +
      "approval of a person. Its id is then that of a held message.",
  ),
  to: PhoneNumber,
  queuedAt: Timestamp,
  scheduledAt: z.optional(Timestamp),
  expiresAt: z.optional(ExpiresAt),
  test: Test,
  pricing: Pricing,
});
export type AcceptedMessage = z.infer<typeof AcceptedMessage>;

export const MessageParams = z.object({ id: idSchema("msg") });

export const Message = namedObject("Message", {
  id: idSchema("msg"),
  status: MessageStatus,
  to: about(z.string(), "The number, as it was given; `[removed]` once it was erased."),
  message: about(
    z.string(),
    "`[removed]` once it was erased, or once it was sent if the gateway does not keep the texts of one-time codes.",
  ),
  senderId: z.string(),
  from: about(z.optional(z.string()), "Your number that it comes from, if it was sent from one."),
  language: Language,
  messageType: z.optional(MessageType),
  campaignId: about(z.optional(idSchema("cmp")), "The campaign that it belongs to."),
  verificationId: about(
    z.optional(idSchema("ver")),
    "The verification that it belongs to. `message` then has `{code}` in place of the code.",
  ),
  ...storedDetails,
  batchId: about(z.optional(idSchema("bat")), "The batch that it was sent in."),
  test: Test,
  encoding: Encoding,
  pricing: Pricing,
  queuedAt: Timestamp,
  scheduledAt: z.optional(Timestamp),
  expiresAt: z.optional(ExpiresAt),
  sentAt: z.optional(Timestamp),
  failedAt: z.optional(Timestamp),
  cancelledAt: z.optional(Timestamp),
  errorCode: z.optional(MessageErrorCode),
  attempts: about(
    z.optional(z.array(Attempt).check(z.maxLength(5))),
    "The last five submissions to carriers, oldest first. Absent before the first.",
  ),
  delivery: about(z.optional(Delivery), "Present once the message was sent."),
});
export type Message = z.infer<typeof Message>;
