import * as z from "zod/mini";

import {
  DeliveryErrorCode,
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
import { acquireLease, leaseFields, releaseLease, renewLease, type Lease } from "../platform/table/lease.ts";
import type { Update } from "../platform/table/table.ts";
import { updateOf } from "../platform/table/update.ts";
import { amountOf, currency } from "../wallet/money.ts";
import { Attempt, presentAttempts } from "./attempts.ts";

/** The last words on a delivery, each of which takes the place of those before it, and of no other. */
export const finalDeliveries = ["unknown", "undelivered", "delivered"] as const;
export type FinalDelivery = (typeof finalDeliveries)[number];

export const MessageRecord = z.object({
  entity: z.literal("message"),
  id: z.string(),
  organizationId: z.string(),
  status: MessageStatus,
  to: z.string(),
  message: z.string(),
  senderId: z.string(),
  language: Language,
  messageType: z.optional(MessageType),
  /** The campaign that it belongs to. */
  campaignId: z.optional(z.string()),
  encoding: Encoding,
  segments: z.int().check(z.positive()),
  unitPriceMicros: z.int().check(z.nonnegative()),
  totalMicros: z.int().check(z.nonnegative()),
  queuedAt: z.string(),
  scheduledAt: z.optional(z.string()),
  /** When it is no longer handed to a carrier, in ISO 8601; without it only `maxPutOffMs` ends its waiting. */
  validUntil: z.optional(z.string()),
  /** How often it was taken up for sending. */
  attempts: z.int().check(z.nonnegative()),
  /** While a sender holds the message. */
  ...leaseFields,
  /** Claims that ended without a word on what the carrier did, the present one included. */
  openClaims: z.int().check(z.nonnegative()),
  /** The carrier that was asked last, or is being asked. Rows of release 0.2 have none: it was the stage's own. */
  carrier: z.optional(z.string()),
  /** The last attempts but for one that a carrier accepted: see `attemptsOf`. */
  attemptLog: z.optional(z.array(Attempt)),
  /** Carriers that surely did not take it and never will. */
  refusedBy: z.optional(z.array(z.string())),
  carrierReference: z.optional(z.string()),
  /** What the carrier takes for it, by the rate card of the moment; absent where that is not known. */
  costMicros: z.optional(z.int().check(z.nonnegative())),
  sentAt: z.optional(z.string()),
  failedAt: z.optional(z.string()),
  cancelledAt: z.optional(z.string()),
  errorCode: z.optional(MessageErrorCode),
  /** What the carrier's receipts have said at last, and when that came; a message that is still on its way has none. */
  deliveryStatus: z.optional(z.enum(finalDeliveries)),
  deliveryAt: z.optional(z.string()),
  deliveryErrorCode: z.optional(DeliveryErrorCode),
  /** The carrier's own code for it: see `providerCodeOf`. */
  deliveryProviderCode: z.optional(z.string()),
  /** Whose receipt that was, where it is known: see `Receipt`. */
  deliveryCarrier: z.optional(z.string()),
  /** Which attempt to record the receipt did so, so that the attempt recognises its own write. */
  deliveryToken: z.optional(z.string()),
  /** Of a message that failed or was cancelled: whether its price is still to be returned. */
  refund: z.optional(z.enum(["due", "done"])),
  /**
   * When the table forgets it, in seconds since the epoch: of a message that is queued, because it may have been written
   * without being paid; of one that came to its end, if the stage keeps messages for a time only.
   */
  expiresAt: z.optional(z.int()),
  /** The seq of the debit that pays for it, of a message that was written before its ledger entry. */
  debitSeq: z.optional(z.int()),
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
    expiresAt: record.validUntil,
    sentAt: record.sentAt,
    failedAt: record.failedAt,
    cancelledAt: record.cancelledAt,
    errorCode: record.errorCode,
    attempts: presentAttempts(record),
    delivery: presentDelivery(record),
  };
}

/** So long a receipt is waited for. One that comes later is heard all the same. */
const receiptPatienceMs = 7 * dayMs;

function presentDelivery(record: MessageRecord): Message["delivery"] {
  const { sentAt, deliveryStatus, deliveryAt, deliveryErrorCode } = record;
  if (deliveryStatus !== undefined && deliveryAt !== undefined) {
    return { status: deliveryStatus, at: deliveryAt, errorCode: deliveryErrorCode };
  }
  if (sentAt === undefined) return undefined;
  const givenUpAt = new Date(Date.parse(sentAt) + receiptPatienceMs);
  if (now() < givenUpAt) return { status: "pending", at: sentAt };
  return { status: "unknown", at: givenUpAt.toISOString() };
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
const unconfirmedMs = 7 * dayMs;

/**
 * A message as it is before its ledger entry, which alone makes it count, has been written.
 * @param debitSeq the seq of that entry
 */
export function unconfirmed(message: MessageRecord, debitSeq: number): MessageRecord {
  return { ...message, debitSeq, expiresAt: unconfirmedUntil(message) };
}

function unconfirmedUntil({ queuedAt }: MessageRecord): number {
  return epochSeconds(new Date(Date.parse(queuedAt) + unconfirmedMs));
}

/** Whether the table would still delete a message as unpaid, whatever its status: a sender may have left that as it was. */
export function isUnconfirmed(message: MessageRecord): boolean {
  return message.expiresAt === unconfirmedUntil(message);
}

/** Provisional → lasting, for its ledger entry is there. */
export function confirm(paid: MessageRecord): Update {
  return updateOf(messageKey(paid), { remove: ["expiresAt"] }, { is: { expiresAt: paid.expiresAt } });
}

/** What makes the table forget a message that has ended, where the stage does not keep messages for ever. */
function retention(at: Date): Pick<MessageRecord, "expiresAt"> {
  const days = config.messageRetentionDays();
  return days === undefined ? {} : { expiresAt: epochSeconds(new Date(at.getTime() + days * dayMs)) };
}

/** Whether a message is so old that, if it is not there, the table may have forgotten it in its time. */
export function mayHaveExpired(messageId: string): boolean {
  const days = config.messageRetentionDays();
  if (days === undefined) return false;
  const forgottenBefore = new Date(now().getTime() - days * dayMs);
  return messageId < firstIdAt("msg", forgottenBefore);
}

/** Whether the time of a message is over; the table deletes it some days later. */
export function hasExpired({ expiresAt = Infinity }: MessageRecord): boolean {
  return expiresAt <= epochSeconds(now());
}

/** What is kept in the place of a text that has gone. */
export const redactedText = "[removed]";

/**
 * What a one-time code loses when its message has ended, where the stage asks for that: its text, for a code
 * may be digits, words or a link. A message of no type may be a code.
 */
function withoutCode({
  messageType = "otp",
}: Pick<MessageRecord, "messageType">): Pick<Partial<MessageRecord>, "message"> {
  return messageType === "otp" && config.redactOneTimeCodes() ? { message: redactedText } : {};
}

/** What a sender acquires the lease of a message for. */
export interface Claim {
  readonly lease: Lease;
  readonly at: Date;
  /** The carrier that will be asked; without one none will be. */
  readonly carrier?: string | undefined;
  /** Whether it is the carrier of those messages that name none. */
  readonly isStageCarrier?: boolean;
  /** Whether it passes only for a message that nobody has taken up before. */
  readonly isFirst?: boolean;
  /** Where an earlier lease has lapsed: when it did, and the attempts with that of its sender. */
  readonly lapsed?:
    | (Required<Pick<MessageRecord, "leaseUntil">> & Pick<MessageRecord, "attemptLog">)
    | undefined;
}

/**
 * queued and free → held. Where an earlier sender ended without a word, the carrier that it asked is the only one that may
 * be asked again.
 */
export function claim(
  key: Key,
  { lease, at, carrier, isStageCarrier = false, isFirst = false, lapsed }: Claim,
): Update {
  const sameCarrier = `#carrier = :carrier${isStageCarrier ? " OR attribute_not_exists(#carrier)" : ""}`;
  return acquireLease(key, lease, at, {
    set: { carrier, attemptLog: lapsed?.attemptLog },
    add: { attempts: 1, openClaims: 1 },
    // There are jobs of paid messages alone.
    remove: ["expiresAt"],
    requires: {
      // The attempts were read with that lease, and are those of the message only while nobody has acquired it since.
      is: {
        status: "queued",
        ...(isFirst ? { attempts: 0 } : {}),
        ...(lapsed === undefined ? {} : { leaseUntil: lapsed.leaseUntil }),
      },
      ...(carrier === undefined
        ? {}
        : { where: `#openClaims = :none OR ${sameCarrier}`, values: { ":none": 0 } }),
    },
  });
}

/** queued, and held by nobody → the same, but known to have its job: it waits for long, and is not lost. */
export function noteWaiting(waiting: MessageRecord): Update {
  return updateOf(
    messageKey(waiting),
    { add: { attempts: 1 }, remove: ["expiresAt"] },
    { is: { status: "queued" }, absent: ["leaseToken"] },
  );
}

const isQueued = { is: { status: "queued" } };

/** held → held for another carrier, because the one before surely did not take it. */
export function passOn(held: MessageRecord, carrier: string, lease: Lease, at: Date): Update {
  const { refusedBy, attemptLog } = held;
  return renewLease(messageKey(held), lease, at, { set: { carrier, refusedBy, attemptLog }, ...isQueued });
}

/** held → queued, because the carrier surely did not take it. */
export function release(held: MessageRecord): Update {
  const { refusedBy, attemptLog } = held;
  return releaseLease(messageKey(held), held, {
    set: { refusedBy, attemptLog },
    add: { openClaims: -1 },
    requires: isQueued,
  });
}

/**
 * When a message was sent at the latest, if a receipt proves it: an earlier sender ended without recording what the carrier
 * did, and that carrier has reported on the message since. `delivered` and `unknown` prove that it had taken the message.
 * `undelivered` does not: carriers report so what they refused, too. Then the message must not count as sent, which is
 * charged; its carrier may be asked again if it recognises repeats, and otherwise the price is returned. A receipt of a
 * carrier that was asked before the last one proves nothing.
 */
export function sentByReceipt(held: MessageRecord): Date | undefined {
  const { openClaims, carrier, deliveryStatus, deliveryAt, deliveryCarrier = carrier } = held;
  if (openClaims <= 1 || deliveryAt === undefined || deliveryCarrier !== carrier) return undefined;
  return deliveryStatus === "undelivered" ? undefined : new Date(deliveryAt);
}

/** held → sent. */
export function markSent(
  held: MessageRecord,
  at: Date,
  { carrierReference, costMicros }: Pick<MessageRecord, "carrierReference" | "costMicros">,
): Update {
  const set = {
    status: "sent",
    sentAt: at.toISOString(),
    carrierReference,
    costMicros,
    attemptLog: held.attemptLog,
    ...withoutCode(held),
    ...retention(at),
  };
  return releaseLease(messageKey(held), held, { set, requires: isQueued });
}

/** held → failed, with its price still to be returned, before which it is not forgotten. */
export function markFailed(held: MessageRecord, at: Date, errorCode: MessageErrorCode): Update {
  const set = {
    status: "failed",
    failedAt: at.toISOString(),
    errorCode,
    refund: "due",
    attemptLog: held.attemptLog,
    ...withoutCode(held),
  };
  return releaseLease(messageKey(held), held, { set, requires: isQueued });
}

/**
 * queued, waiting for its time and never taken up → cancelled, its price returned. Part of the transaction that
 * credits the wallet.
 */
export function markCancelled(waiting: MessageRecord, at: Date): Update {
  const set = { status: "cancelled", cancelledAt: at.toISOString(), refund: "done" };
  return updateOf(
    messageKey(waiting),
    { set: { ...set, ...withoutCode(waiting), ...retention(at) } },
    { is: { status: "queued", openClaims: 0 }, where: "scheduledAt > :cancelledAt" },
  );
}

/** failed, price to be returned → price returned. Part of the transaction that credits the wallet. */
export function markRefunded(failed: MessageRecord): Update {
  const set = { refund: "done", ...retention(now()) };
  return updateOf(messageKey(failed), { set }, { is: { refund: "due" } });
}

/** What a carrier says has become of a message at last. */
export interface Receipt {
  readonly status: FinalDelivery;
  readonly errorCode?: DeliveryErrorCode | undefined;
  /** The carrier's own code for it: see `providerCodeOf`. */
  readonly providerCode?: string | undefined;
  /** When it came, in ISO 8601. */
  readonly at: string;
  /** The carrier that says so; where that is not known, it is one that every receipt of its kind comes from. */
  readonly carrier?: string | undefined;
  /** Names this attempt to record it. */
  readonly token: string;
}

/**
 * `before` → what a receipt says, whatever the state of the message itself: the receipt may come before it is known that
 * the message was sent. Only the carrier that was asked last is heard.
 * @param before what earlier receipts have said; undefined is nothing
 */
export function noteReceipt(key: Key, receipt: Receipt, before: FinalDelivery | undefined): Update {
  const { status, errorCode, providerCode, at, carrier, token } = receipt;
  return updateOf(
    key,
    {
      set: {
        deliveryStatus: status,
        deliveryAt: at,
        deliveryErrorCode: errorCode,
        deliveryProviderCode: providerCode,
        deliveryCarrier: carrier,
        deliveryToken: token,
      },
      remove: [
        ...(errorCode === undefined ? ["deliveryErrorCode"] : []),
        ...(providerCode === undefined ? ["deliveryProviderCode"] : []),
        ...(carrier === undefined ? ["deliveryCarrier"] : []),
      ],
    },
    {
      present: ["queuedAt"],
      ...(before === undefined ? { absent: ["deliveryStatus"] } : { is: { deliveryStatus: before } }),
      ...(carrier === undefined
        ? {}
        : {
            where: "attribute_not_exists(carrier) OR carrier = :askedCarrier",
            values: { ":askedCarrier": carrier },
          }),
    },
  );
}
