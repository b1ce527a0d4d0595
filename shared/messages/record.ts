import * as z from "zod";

import {
  MessageErrorCode,
  Encoding,
  Language,
  MessageStatus,
  MessageType,
  type Message,
} from "../contract/sms.ts";
import { dayMs, epochSeconds, now } from "../platform/clock.ts";
import { config } from "../platform/config.ts";
import { firstIdAt } from "../platform/ids.ts";
import { keys, type Key } from "../platform/table/keys.ts";
import type { Update } from "../platform/table/table.ts";
import { updateOf, type Requirements } from "../platform/table/update.ts";
import { amountOf, currency } from "../wallet/money.ts";

export const MessageRecord = z.object({
  entity: z.literal("message"),
  id: z.string(),
  organizationId: z.string(),
  status: MessageStatus,
  to: z.string(),
  message: z.string(),
  senderId: z.string(),
  language: Language,
  messageType: MessageType.optional(),
  /** The campaign that it belongs to. */
  campaignId: z.string().optional(),
  encoding: Encoding,
  segments: z.int().positive(),
  unitPriceMicros: z.int().nonnegative(),
  totalMicros: z.int().nonnegative(),
  queuedAt: z.string(),
  scheduledAt: z.string().optional(),
  /** How often it was taken up for sending. */
  attempts: z.int().nonnegative(),
  /** While a sender holds the message: whose claim it is, and when it lapses. */
  claimToken: z.string().optional(),
  claimedUntil: z.string().optional(),
  /** Claims that ended without a word on what the carrier did, the present one included. */
  openClaims: z.int().nonnegative(),
  carrierReference: z.string().optional(),
  sentAt: z.string().optional(),
  failedAt: z.string().optional(),
  cancelledAt: z.string().optional(),
  errorCode: MessageErrorCode.optional(),
  /** Of a message that failed or was cancelled: whether its price is still to be returned. */
  refund: z.enum(["due", "done"]).optional(),
  /**
   * When the table forgets it, in seconds since the epoch: of a message that is queued, because it may have been written
   * without being paid; of one that came to its end, if the stage keeps messages for a time only.
   */
  expiresAt: z.int().optional(),
});
export type MessageRecord = z.infer<typeof MessageRecord>;

export function messageKey(message: { organizationId: string; id: string }): Key {
  return keys.message(message.organizationId, message.id);
}

export function presentMessage(record: MessageRecord): Message {
  return {
    id: record.id,
    status: record.status,
    to: record.to,
    message: record.message,
    senderId: record.senderId,
    language: record.language,
    messageType: record.messageType,
    campaignId: record.campaignId,
    encoding: record.encoding,
    pricing: presentPricing(record),
    queuedAt: record.queuedAt,
    scheduledAt: record.scheduledAt,
    sentAt: record.sentAt,
    failedAt: record.failedAt,
    cancelledAt: record.cancelledAt,
    errorCode: record.errorCode,
  };
}

export function presentPricing(
  record: Pick<MessageRecord, "segments" | "totalMicros" | "unitPriceMicros">,
): Message["pricing"] {
  return {
    segments: record.segments,
    unitPrice: amountOf(record.unitPriceMicros),
    total: amountOf(record.totalMicros),
    currency,
  };
}

/*
 * The transitions of a message. Each names the state that it starts from as its condition, so a transition
 * that comes late or twice is refused and changes nothing.
 */

/**
 * Longer than a paid message can be without having been taken up or looked at by the reconciler, both of which end its
 * being provisional, though everything be down for days.
 */
const provisionalMs = 7 * dayMs;

/** A message as it is before its ledger entry, which alone makes it count, has been written. */
export function provisional(message: MessageRecord): MessageRecord {
  return {
    ...message,
    expiresAt: epochSeconds(new Date(Date.parse(message.queuedAt) + provisionalMs)),
  };
}

/** Provisional → lasting, for its ledger entry is there. */
export function makeLasting(paid: MessageRecord): Update {
  return updateOf(messageKey(paid), { remove: ["expiresAt"] }, { is: { status: "queued" } });
}

/** What makes the table forget a message that has come to its end, where the stage does not keep messages for ever. */
function untilForgotten(at: Date): Pick<MessageRecord, "expiresAt"> {
  const days = config.messageRetentionDays();
  return days === undefined ? {} : { expiresAt: epochSeconds(new Date(at.getTime() + days * dayMs)) };
}

/** Whether a message is so old that, if it is not there, the table may have forgotten it in its time. */
export function mayBeForgotten(messageId: string): boolean {
  const days = config.messageRetentionDays();
  if (days === undefined) return false;
  const forgottenBefore = new Date(now().getTime() - days * dayMs);
  return messageId < firstIdAt("msg", forgottenBefore);
}

/** Whether the time of a message is over; the table deletes it some days later. */
export function isForgotten({ expiresAt = Infinity }: MessageRecord): boolean {
  return expiresAt <= epochSeconds(now());
}

/** What is kept in the place of a text that has gone. */
export const redactedText = "[removed]";

/**
 * What a one-time code loses when its message has come to its end, where the stage asks for that: its text, for a code
 * may be digits, words or a link.
 */
function withoutCode({
  messageType,
}: Pick<MessageRecord, "messageType">): Pick<Partial<MessageRecord>, "message"> {
  return messageType === "otp" && config.redactOneTimeCodes() ? { message: redactedText } : {};
}

/** What a message loses when nobody holds it any more. */
const claimFields = ["claimToken", "claimedUntil"];

/** queued, and held by nobody → held by `token` until `until`. */
export function claim(key: Key, token: string, at: Date, until: Date): Update {
  return updateOf(
    key,
    {
      set: { claimToken: token, claimedUntil: until.toISOString() },
      add: { attempts: 1, openClaims: 1 },
      // There are jobs of paid messages alone.
      remove: ["expiresAt"],
    },
    {
      is: { status: "queued" },
      where: "attribute_not_exists(#claimedUntil) OR #claimedUntil < :at",
      values: { ":at": at.toISOString() },
    },
  );
}

/** held → queued, because the carrier surely did not take it. */
export function release(held: MessageRecord): Update {
  return updateOf(messageKey(held), { add: { openClaims: -1 }, remove: claimFields }, isHeld(held));
}

/** held → sent. */
export function markSent(held: MessageRecord, at: Date, carrierReference: string): Update {
  const set = {
    status: "sent",
    sentAt: at.toISOString(),
    carrierReference,
    ...withoutCode(held),
    ...untilForgotten(at),
  };
  return updateOf(messageKey(held), { set, remove: claimFields }, isHeld(held));
}

/** held → failed, with its price still to be returned, before which it is not forgotten. */
export function markFailed(held: MessageRecord, at: Date, errorCode: MessageErrorCode): Update {
  const set = {
    status: "failed",
    failedAt: at.toISOString(),
    errorCode,
    refund: "due",
    ...withoutCode(held),
  };
  return updateOf(messageKey(held), { set, remove: claimFields }, isHeld(held));
}

function isHeld({ claimToken }: MessageRecord): Requirements {
  return { is: { status: "queued", claimToken } };
}

/**
 * queued, waiting for its time and never taken up → cancelled, its price returned. Part of the transaction that
 * credits the wallet.
 */
export function markCancelled(waiting: MessageRecord, at: Date): Update {
  const set = { status: "cancelled", cancelledAt: at.toISOString(), refund: "done" };
  return updateOf(
    messageKey(waiting),
    { set: { ...set, ...withoutCode(waiting), ...untilForgotten(at) } },
    { is: { status: "queued", openClaims: 0 }, where: "scheduledAt > :cancelledAt" },
  );
}

/** failed, price to be returned → price returned. Part of the transaction that credits the wallet. */
export function markRefunded(failed: MessageRecord): Update {
  const set = { refund: "done", ...untilForgotten(now()) };
  return updateOf(messageKey(failed), { set }, { is: { refund: "due" } });
}
