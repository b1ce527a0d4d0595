import type { DeliveryErrorCode, MessageErrorCode } from "../../api/contract/sms.ts";
import { dayMs, epochSeconds, now } from "../../platform/clock.ts";
import { config } from "../../platform/config.ts";
import type { Key } from "../../platform/table/keys.ts";
import { acquireLease, releaseLease, renewLease, type Lease } from "../../platform/table/lease.ts";
import { messageKey } from "../../platform/table/shards.ts";
import { type Update, updateOf } from "../../platform/table/write.ts";
import { effectsOf } from "./effects.ts";
import { redactedText, retention, type FinalDelivery, type MessageRecord } from "./record.ts";

/*
 * The transitions of a message. Each has the state that it starts from as its condition, so that a late or repeated
 * transition changes nothing.
 */

/**
 * Longer than a paid message can stay unconfirmed, even in an outage of days. The first attempt to send it confirms it, and
 * so does the reconciler.
 */
const unconfirmedMs = 7 * dayMs;

/**
 * Returns a message as it is before its ledger entry exists. Only that entry makes the message count.
 */
export function asUnconfirmed(message: MessageRecord): MessageRecord {
  return { ...message, expiresAt: unconfirmedUntil(message) };
}

function unconfirmedUntil({ queuedAt }: MessageRecord): number {
  return epochSeconds(new Date(Date.parse(queuedAt) + unconfirmedMs));
}

/** Whether the table would still delete a message as unpaid, in any status: a sender may not have changed `expiresAt`. */
export function isUnconfirmed(message: MessageRecord): boolean {
  return message.expiresAt === unconfirmedUntil(message);
}

/** Unconfirmed → confirmed, because its ledger entry exists. */
export function confirm(paid: MessageRecord): Update<"message"> {
  return updateOf(messageKey(paid), { remove: ["expiresAt"] }, { is: { expiresAt: paid.expiresAt } });
}

/**
 * Removes the text of a one-time code that has ended, if the stage requires that. A code may be digits, words or a link,
 * so the whole text is removed. A message without a type may be a code. That of a verification has a placeholder instead.
 */
export function withoutCode({
  messageType = "otp",
  verificationId,
}: Pick<Partial<MessageRecord>, "messageType" | "verificationId">): Pick<Partial<MessageRecord>, "message"> {
  const mayHaveCode = messageType === "otp" && verificationId === undefined;
  return mayHaveCode && config.redactOneTimeCodes() ? { message: redactedText } : {};
}

/** The purpose and the conditions of a sender's lease on a message. */
export interface Acquisition {
  readonly lease: Lease;
  readonly at: Date;
  /** The carrier to submit to, if any. */
  readonly carrier?: string | undefined;
  /** Whether the lease requires that no sender has acquired the message before. */
  readonly isFirst?: boolean;
  /** After an earlier lease lapsed: when it did, and the attempts including that of its sender. */
  readonly lapsed?:
    | (Required<Pick<MessageRecord, "leaseUntil">> & Pick<MessageRecord, "attemptLog">)
    | undefined;
}

/**
 * queued and free → leased. If the outcome of an earlier attempt is unknown, only the carrier of that attempt may get the
 * message again.
 */
export function acquire(
  key: Key<"message">,
  { lease, at, carrier, isFirst = false, lapsed }: Acquisition,
): Update<"message"> {
  return acquireLease(key, lease, at, {
    set: { carrier, attemptLog: lapsed?.attemptLog },
    add: { attempts: 1, unresolvedAttempts: 1 },
    // The sender has checked that the message is paid. Test messages keep their expiry.
    remove: effectsOf({ id: key.sk }).keepsExpiry ? [] : ["expiresAt"],
    requires: {
      // The attempts were read with that lease. They are current only while no other sender has acquired it since.
      is: {
        status: "queued",
        ...(isFirst ? { attempts: 0 } : {}),
        ...(lapsed === undefined ? {} : { leaseUntil: lapsed.leaseUntil }),
      },
      ...(carrier === undefined ? {} : { anyOf: [{ is: { unresolvedAttempts: 0 } }, { is: { carrier } }] }),
    },
  });
}

/** queued and free → the same, but known to have a job: it waits for a long time, and is not lost. */
export function noteWaiting(waiting: MessageRecord): Update<"message"> {
  return updateOf(
    messageKey(waiting),
    { add: { attempts: 1 }, remove: effectsOf(waiting).keepsExpiry ? [] : ["expiresAt"] },
    // A repetition after a lost response is rejected.
    { is: { status: "queued", attempts: 0 }, absent: ["leaseToken"] },
  );
}

const isQueued = { is: { status: "queued" } } as const;

/** leased → leased, with an attempt that the carrier has not responded to. The lease lapses at its time. */
export function noteUnknown({ leaseToken, attemptLog, ...leased }: MessageRecord): Update<"message"> {
  return updateOf(messageKey(leased), { set: { attemptLog } }, { is: { status: "queued", leaseToken } });
}

/** leased → leased for another carrier, because the one before definitely did not accept it. */
export function passOn(leased: MessageRecord, carrier: string, lease: Lease, at: Date): Update<"message"> {
  const { rejectedBy, attemptLog } = leased;
  return renewLease(messageKey(leased), lease, at, { set: { carrier, rejectedBy, attemptLog }, ...isQueued });
}

/** leased → queued, because the carrier definitely did not accept it. */
export function release(leased: MessageRecord): Update<"message"> {
  const { rejectedBy, attemptLog } = leased;
  return releaseLease(messageKey(leased), leased, {
    set: { rejectedBy, attemptLog },
    add: { unresolvedAttempts: -1 },
    requires: isQueued,
  });
}

/**
 * Returns when a message was sent at the latest, if a receipt proves that it was sent. This applies if an earlier sender
 * ended without recording the outcome, and its carrier has reported on the message since.
 *
 * `delivered` and `unknown` prove that the carrier had accepted the message. `undelivered` does not, because carriers also
 * report it for rejected messages. Such a message must not count as sent, because that is charged. Its carrier may get it
 * again if it recognizes repeats; otherwise the price is returned. A receipt of an earlier carrier proves nothing.
 */
export function sentByReceipt(leased: MessageRecord): Date | undefined {
  const { unresolvedAttempts, carrier, deliveryStatus, deliveryAt, deliveryCarrier = carrier } = leased;
  if (unresolvedAttempts <= 1 || deliveryAt === undefined || deliveryCarrier !== carrier) return undefined;
  return deliveryStatus === "undelivered" ? undefined : new Date(deliveryAt);
}

/** leased → sent. */
export function markSent(
  leased: MessageRecord,
  at: Date,
  { carrierReference, costMicros }: Pick<MessageRecord, "carrierReference" | "costMicros">,
): Update<"message"> {
  const set = {
    status: "sent" as const,
    sentAt: at.toISOString(),
    carrierReference,
    costMicros,
    attemptLog: leased.attemptLog,
    ...withoutCode(leased),
    ...retention(leased, at),
  };
  return releaseLease(messageKey(leased), leased, { set, requires: isQueued });
}

/**
 * leased → failed, with its refund due if it was paid. It does not expire before the refund.
 * @param costMicros what its carrier may charge, if the outcome is unknown
 */
export function markFailed(
  leased: MessageRecord,
  at: Date,
  { errorCode, costMicros }: Pick<MessageRecord, "costMicros"> & { readonly errorCode: MessageErrorCode },
): Update<"message"> {
  const set = {
    status: "failed" as const,
    failedAt: at.toISOString(),
    errorCode,
    costMicros,
    ...refundOf(leased, "due"),
    attemptLog: leased.attemptLog,
    ...withoutCode(leased),
  };
  return releaseLease(messageKey(leased), leased, { set, requires: isQueued });
}

/** Returns the state of a message's refund, if it was paid. */
function refundOf(
  message: MessageRecord,
  refund: NonNullable<MessageRecord["refund"]>,
): Pick<MessageRecord, "refund"> {
  return effectsOf(message).isPaid ? { refund } : {};
}

/**
 * queued, not yet due and without an unresolved attempt → cancelled and refunded. Part of the transaction that credits the
 * wallet.
 */
export function markCancelled(waiting: MessageRecord, at: Date): Update<"message"> {
  const set = { status: "cancelled" as const, cancelledAt: at.toISOString(), ...refundOf(waiting, "done") };
  return updateOf(
    messageKey(waiting),
    { set: { ...set, ...withoutCode(waiting), ...retention(waiting, at) } },
    { is: { status: "queued", unresolvedAttempts: 0 }, above: { scheduledAt: at.toISOString() } },
  );
}

/** failed, refund due → refunded. Part of the transaction that credits the wallet. */
export function markRefunded(failed: MessageRecord): Update<"message"> {
  const set = { ...retention(failed, now()), refund: "done" } as const;
  return updateOf(messageKey(failed), { set }, { is: { refund: "due" } });
}

/** A carrier's final report on a message. */
export interface Receipt {
  readonly status: FinalDelivery;
  readonly errorCode?: DeliveryErrorCode | undefined;
  /** The carrier's own code for it: see `providerCodeOf`. */
  readonly providerCode?: string | undefined;
  /** When it arrived, in ISO 8601. */
  readonly at: string;
  /** The carrier that reports it; absent if every receipt of this kind has the same carrier. */
  readonly carrier?: string | undefined;
  /** Names this attempt to record it. */
  readonly token: string;
}

/**
 * `before` → the status of a receipt, in every state of the message: the receipt may arrive before the message is recorded
 * as sent. Only the last carrier of the message can report.
 * @param before the status from earlier receipts; undefined if there was none
 */
export function noteReceipt(
  key: Key<"message">,
  receipt: Receipt,
  before: FinalDelivery | undefined,
): Update<"message"> {
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
        ...(errorCode === undefined ? (["deliveryErrorCode"] as const) : []),
        ...(providerCode === undefined ? (["deliveryProviderCode"] as const) : []),
        ...(carrier === undefined ? (["deliveryCarrier"] as const) : []),
      ],
    },
    {
      present: ["queuedAt"],
      absent: before === undefined ? ["deliveryStatus"] : [],
      is: {
        ...(before === undefined ? {} : { deliveryStatus: before }),
        ...(carrier === undefined ? {} : { carrier }),
      },
    },
  );
}
