import * as z from "zod/mini";

import type { EventDetails } from "../../api/contract/events.ts";
import { detailsOf, storedDetails } from "../../api/contract/message-details.ts";
import {
  DeliveryErrorCode,
  MessageErrorCode,
  Encoding,
  Language,
  MessageStatus,
  MessageType,
  type Message,
} from "../../api/contract/sms.ts";
import { amountOf } from "../../money/wallet/money.ts";
import type { Viewer } from "../../platform/auth/actor.ts";
import { dayMs, epochSeconds, minuteMs, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import { firstIdAt, testMarkOf } from "../../platform/ids.ts";
import { leaseFields } from "../../platform/table/lease.ts";
import { Attempt, toApiAttempts } from "./attempts.ts";
import { effectsOf } from "./effects.ts";

/** The final states of a delivery. Each may replace only the ones before it. */
export const finalDeliveries = ["unknown", "undelivered", "delivered"] as const;
export type FinalDelivery = (typeof finalDeliveries)[number];

/** Stands for the code of a verification in the texts of its messages. */
export const codePlaceholder = "{code}";

/** The facts that the code of a verification follows from: see `verification-code.ts`. */
export const CodeSource = z.object({
  keyId: z.string(),
  length: z.int(),
  /** A code of the caller's own. */
  sealed: z.optional(z.string()),
});
export type CodeSource = z.infer<typeof CodeSource>;

export const MessageRecord = z.object({
  entity: z.literal("message"),
  id: z.string(),
  organizationId: z.string(),
  status: MessageStatus,
  to: z.string(),
  message: z.string(),
  /** The name or number that the phone shows. */
  senderId: z.string(),
  /** The same number, if the message comes from a number of its organization: it then goes only to the carrier of that. */
  from: z.optional(z.string()),
  language: Language,
  messageType: z.optional(MessageType),
  /** The campaign that it belongs to. */
  campaignId: z.optional(z.string()),
  /** The batch that it was sent in. */
  batchId: z.optional(z.string()),
  /** The API key that sent it; absent for a person, and for the messages of a campaign. */
  apiKeyId: z.optional(z.string()),
  /** The verification that it belongs to. Its text has `{code}` in place of the code, which follows from `code`. */
  verificationId: z.optional(z.string()),
  code: z.optional(CodeSource),
  /** The fee that was debited with it, and whether the verification has kept it. `open` until the verification has ended. */
  feeMicros: z.optional(z.int().check(z.nonnegative())),
  fee: z.optional(z.enum(["open", "kept", "returned"])),
  ...storedDetails,
  encoding: Encoding,
  segments: z.int().check(z.positive()),
  unitPriceMicros: z.int().check(z.nonnegative()),
  totalMicros: z.int().check(z.nonnegative()),
  queuedAt: z.string(),
  scheduledAt: z.optional(z.string()),
  /** When it expires and is no longer submitted, in ISO 8601. Without it, only `maxRescheduleMs` ends its waiting. */
  validUntil: z.optional(z.string()),
  /** How often a sender has acquired it. */
  attempts: z.int().check(z.nonnegative()),
  /** Present while a sender holds the message. */
  ...leaseFields,
  /** Attempts without a known outcome, the present one included. */
  unresolvedAttempts: z.int().check(z.nonnegative()),
  /** The carrier of the last or present submission. */
  carrier: z.optional(z.string()),
  /** The last attempts, except one that a carrier accepted: see `attemptsOf`. */
  attemptLog: z.optional(z.array(Attempt)),
  /** Carriers that rejected it, and do not get it again. */
  rejectedBy: z.optional(z.array(z.string())),
  carrierReference: z.optional(z.string()),
  /**
   * The carrier's price for it, by the rate card at that time; absent if unknown. A message that failed with an unknown outcome
   * has the price that its carrier may charge.
   */
  costMicros: z.optional(z.int().check(z.nonnegative())),
  sentAt: z.optional(z.string()),
  failedAt: z.optional(z.string()),
  cancelledAt: z.optional(z.string()),
  errorCode: z.optional(MessageErrorCode),
  /** The last state that the carrier's receipts reported, and when it arrived; absent until then. */
  deliveryStatus: z.optional(z.enum(finalDeliveries)),
  deliveryAt: z.optional(z.string()),
  deliveryErrorCode: z.optional(DeliveryErrorCode),
  /** The carrier's own code for it: see `providerCodeOf`. */
  deliveryProviderCode: z.optional(z.string()),
  /** The carrier that sent the receipt, if known: see `Receipt`. */
  deliveryCarrier: z.optional(z.string()),
  /** Names the attempt that recorded the receipt, so that the attempt recognizes its own write. */
  deliveryToken: z.optional(z.string()),
  /** Whether the price of a failed or cancelled message is still due. */
  refund: z.optional(z.enum(["due", "done"])),
  /**
   * When the table deletes it, in seconds since the epoch. A queued message has it while its payment is unconfirmed. A
   * message that has ended has it if the stage limits the retention of messages.
   */
  expiresAt: z.optional(z.int()),
});
export type MessageRecord = z.infer<typeof MessageRecord>;

/** Returns a message as a viewer sees it. */
export function toApiMessage(record: MessageRecord, { hidesCodes }: Pick<Viewer, "hidesCodes">): Message {
  const isHidden = hidesCodes && record.messageType === "otp" && record.verificationId === undefined;
  return {
    id: record.id,
    status: record.status,
    to: record.to,
    message: isHidden ? redactedText : record.message,
    senderId: record.senderId,
    from: record.from,
    language: record.language,
    messageType: record.messageType,
    campaignId: record.campaignId,
    verificationId: record.verificationId,
    ...detailsOf(record),
    batchId: record.batchId,
    ...testMarkOf(record.id),
    encoding: record.encoding,
    pricing: toApiPricing(record),
    queuedAt: record.queuedAt,
    scheduledAt: record.scheduledAt,
    expiresAt: record.validUntil,
    sentAt: record.sentAt,
    failedAt: record.failedAt,
    cancelledAt: record.cancelledAt,
    errorCode: record.errorCode,
    attempts: toApiAttempts(record),
    delivery: toApiDelivery(record),
  };
}

/** How long a receipt is expected. A later one is still recorded. */
const receiptPatienceMs = 7 * dayMs;

function toApiDelivery(record: MessageRecord): Message["delivery"] {
  const { sentAt, deliveryStatus, deliveryAt, deliveryErrorCode } = record;
  if (deliveryStatus !== undefined && deliveryAt !== undefined) {
    return { status: deliveryStatus, at: deliveryAt, errorCode: deliveryErrorCode };
  }
  if (sentAt === undefined) return undefined;
  const givenUpAt = new Date(Date.parse(sentAt) + receiptPatienceMs);
  if (now() < givenUpAt) return { status: "pending", at: sentAt };
  return { status: "unknown", at: givenUpAt.toISOString() };
}

export function toApiPricing(
  record: Pick<MessageRecord, "segments" | "totalMicros" | "unitPriceMicros">,
): Message["pricing"] {
  return {
    segments: record.segments,
    unitPrice: amountOf(record.unitPriceMicros),
    total: amountOf(record.totalMicros),
    currency: config.currency(),
  };
}

/**
 * Returns the fields that events have of a message with details of its customer. Events of others keep the form that the
 * receivers of existing customers know.
 */
export function eventDetailsOf(message: MessageRecord): EventDetails {
  const { reference, metadata, callbackUrl } = message;
  if ((reference ?? metadata ?? callbackUrl) === undefined) return {};
  return { reference, metadata, pricing: toApiPricing(message), refunded: message.refund !== undefined };
}

/**
 * Returns the expiry of a message that has ended, if the stage limits the retention of messages. A test message has an
 * expiry from the start, and keeps it.
 */
export function retention(message: MessageRecord, at: Date): Pick<MessageRecord, "expiresAt"> {
  const expiresAt = retentionEnd(at);
  return effectsOf(message).keepsExpiry || expiresAt === undefined ? {} : { expiresAt };
}

/** Returns the end of the stage's retention of messages, in seconds since the epoch, if it limits it. */
export function retentionEnd(from: Date): number | undefined {
  const days = config.messageRetentionDays();
  return days === undefined ? undefined : epochSeconds(new Date(from.getTime() + days * dayMs));
}

/** The longest time from `queuedAt` of a message until its id is made. */
export const idDelayMs = minuteMs;

/** Whether a message is so old that it may have existed and expired. */
export function mayHaveExpired(messageId: string): boolean {
  const days = config.messageRetentionDays();
  if (days === undefined) return false;
  const forgottenBefore = new Date(now().getTime() - days * dayMs);
  return messageId < firstIdAt("msg", forgottenBefore);
}

/** Whether an item of messages has expired. DynamoDB deletes expired items days later. */
export function hasExpired({ expiresAt = Infinity }: { readonly expiresAt?: number | undefined }): boolean {
  return expiresAt <= epochSeconds(now());
}

/** Replaces a text that was removed. */
export const redactedText = "[removed]";
