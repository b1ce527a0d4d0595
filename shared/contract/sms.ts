import * as z from "zod";

import { Currency, idSchema, PhoneNumber, text, Timestamp } from "./primitives.ts";

export const MessageType = z.enum(["otp", "transactional", "marketing"]);
export type MessageType = z.infer<typeof MessageType>;

/** `English` is sent as GSM-7 where its characters allow, `Unicode` always as UCS-2. */
export const Language = z.enum(["English", "Unicode"]);

export const SenderId = z
  .string()
  .max(11)
  .regex(/^[A-Za-z0-9]+$/, "must be letters and digits only");

export const SendSmsRequest = z.object({
  to: PhoneNumber,
  message: text(1_600).min(1, "must not be empty"),
  senderId: SenderId.optional(),
  language: Language.default("English"),
  scheduledAt: z.iso
    .datetime({ offset: true, error: "must be an ISO 8601 date-time with a time zone" })
    .optional(),
  messageType: MessageType.optional(),
});
export type SendSmsRequest = z.infer<typeof SendSmsRequest>;

/** How a text travels: in 7-bit characters, or in 16-bit ones where it has others. */
export const Encoding = z.enum(["GSM-7", "UCS-2"]);
export type Encoding = z.infer<typeof Encoding>;

/** `sent`, `failed` and `cancelled` are final; only a scheduled message can be cancelled. */
export const MessageStatus = z.enum(["queued", "sent", "failed", "cancelled"]);

/** Why a message failed, in words that name no provider. */
export const DeliveryErrorCode = z.enum([
  /** The number cannot be a phone. */
  "MESSAGE_INVALID_DESTINATION",
  /** No carrier takes messages for this number. */
  "MESSAGE_UNROUTABLE",
  /** The carrier refused the message, or could not be reached in any attempt. */
  "MESSAGE_PROVIDER_ERROR",
  /** Whether the carrier took the message is not known, so it is not sent again. */
  "MESSAGE_OUTCOME_UNKNOWN",
]);
export type DeliveryErrorCode = z.infer<typeof DeliveryErrorCode>;

const Pricing = z.object({
  segments: z.int(),
  unitPrice: z.number(),
  total: z.number(),
  currency: Currency,
});

export const AcceptedMessage = z.object({
  id: idSchema("msg"),
  status: z.literal("queued"),
  to: PhoneNumber,
  queuedAt: Timestamp,
  scheduledAt: Timestamp.optional(),
  pricing: Pricing,
});
export type AcceptedMessage = z.infer<typeof AcceptedMessage>;

export const Message = z.object({
  id: idSchema("msg"),
  status: MessageStatus,
  to: PhoneNumber,
  message: z.string(),
  senderId: z.string(),
  language: Language,
  messageType: MessageType.optional(),
  campaignId: idSchema("cmp").optional(),
  encoding: Encoding,
  pricing: Pricing,
  queuedAt: Timestamp,
  scheduledAt: Timestamp.optional(),
  sentAt: Timestamp.optional(),
  failedAt: Timestamp.optional(),
  cancelledAt: Timestamp.optional(),
  errorCode: DeliveryErrorCode.optional(),
});
export type Message = z.infer<typeof Message>;

/** The fields of a message that decide its price; those of a whole send request are taken as well. */
export const EstimateSmsRequest = SendSmsRequest.pick({ to: true, message: true, language: true });
export type EstimateSmsRequest = z.infer<typeof EstimateSmsRequest>;

export const Estimate = z.object({
  to: PhoneNumber,
  encoding: Encoding,
  pricing: Pricing,
  balance: z.number(),
  /** Whether the balance covers the message now. */
  isCovered: z.boolean(),
});
export type Estimate = z.infer<typeof Estimate>;
