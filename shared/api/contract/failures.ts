import type { DeliveryErrorCode, Message, MessageErrorCode } from "./sms.ts";

/*
 * The outcomes of messages in words, for the documentation, this folder's README, the console and the operator's commands.
 * Responses only have the codes, so the bundles of functions leave these texts out.
 */

/** Why a message failed, by its `errorCode`. */
export const messageFailures: Readonly<Record<MessageErrorCode, string>> = {
  MESSAGE_INVALID_DESTINATION: "This number cannot receive messages.",
  MESSAGE_UNROUTABLE: "No carrier delivers to this number, or the gateway sends nothing to it.",
  MESSAGE_EXPIRED: "The message expired before it was submitted to a carrier.",
  MESSAGE_PROVIDER_ERROR: "The carrier rejected the message, or could not be reached in any attempt.",
  MESSAGE_OUTCOME_UNKNOWN:
    "It is not known whether the carrier accepted the message, so it is not sent again.",
  MESSAGE_SENDER_ID_NOT_APPROVED: "The approval of the sender ID was withdrawn before the message was sent.",
  MESSAGE_RECIPIENT_OPTED_OUT: "The recipient opted out of marketing before the message was sent.",
  ORGANIZATION_SUSPENDED: "The organization was suspended when the message was due.",
  SENDING_PAUSED: "A member of the organization had paused all sending when the message was due.",
};

/** Why a phone did not get a sent message, by the `errorCode` of its delivery. */
export const deliveryFailures: Readonly<Record<DeliveryErrorCode, string>> = {
  DELIVERY_EXPIRED: "The phone could not be reached before the message expired.",
  DELIVERY_INVALID_DESTINATION: "The number is not in use.",
  DELIVERY_REJECTED: "A carrier or its spam filter rejected the message.",
  DELIVERY_UNREACHABLE: "The phone is switched off, out of reach or barred.",
  DELIVERY_FAILED: "The carrier gave no reason.",
};

type Code = DeliveryErrorCode | MessageErrorCode;

/** Why a message did not arrive, by its code. */
export const failureReasons: Readonly<Record<Code, string>> = { ...messageFailures, ...deliveryFailures };

/** The advice for each reason. */
export const failureAdvice: Readonly<Record<Code, string>> = {
  MESSAGE_INVALID_DESTINATION: "Check the number, and correct the contact too.",
  MESSAGE_UNROUTABLE: "Check the number. Contact the gateway operator if its country matters to you.",
  MESSAGE_EXPIRED: "Send it again if it still matters, with more time under “Expires after”.",
  MESSAGE_PROVIDER_ERROR: "Send it again in a few minutes, or contact the gateway operator.",
  MESSAGE_OUTCOME_UNKNOWN: "It may have arrived. Send it again only if a second copy does no harm.",
  MESSAGE_SENDER_ID_NOT_APPROVED: "Choose an approved sender ID.",
  MESSAGE_RECIPIENT_OPTED_OUT: "Do not send it again, unless the person asks you to.",
  ORGANIZATION_SUSPENDED: "Contact the gateway operator.",
  SENDING_PAUSED: "Resume sending first.",
  DELIVERY_EXPIRED: "Send it again later, with more time under “Expires after”.",
  DELIVERY_INVALID_DESTINATION: "Check the number, and correct the contact too.",
  DELIVERY_REJECTED: "Change the text first. Filters often reject links and capital letters.",
  DELIVERY_UNREACHABLE: "Send it again later.",
  DELIVERY_FAILED: "Send it again later, or contact the gateway operator.",
};

/** Returns the reason why a message did not arrive; undefined if it did, or may still arrive. */
export function failureOf({ errorCode, delivery }: Message): Code | undefined {
  if (errorCode !== undefined) return errorCode;
  return delivery?.status === "undelivered" ? (delivery.errorCode ?? "DELIVERY_FAILED") : undefined;
}

/** The states of a message that has not failed. The time follows after `cancelled` and `scheduled`. */
export const stateTexts = {
  cancelled: "Cancelled",
  scheduled: "Scheduled for",
  queued: "Waiting to be submitted to a carrier…",
  unanswered: "The carrier has not responded. The message may still arrive.",
  pending: "Waiting for the delivery receipt…",
  delivered: "Received by the phone",
  unknown: "It is unknown whether the phone received it",
} as const;

/** Returns the state of a queued message that is due. After an attempt without a clear response it may already be on its way. */
export function waitingText({
  attempts,
}: {
  readonly attempts?: readonly { readonly outcome: string }[] | undefined;
}): string {
  return attempts?.at(-1)?.outcome === "unknown" ? stateTexts.unanswered : stateTexts.queued;
}

/** The outcomes of a submission to a carrier. */
export const attemptNames: Readonly<Record<NonNullable<Message["attempts"]>[number]["outcome"], string>> = {
  accepted: "Accepted by a carrier",
  rejected: "Rejected by a carrier",
  throttled: "Throttled by a carrier",
  unreachable: "Carrier unreachable",
  unknown: "No clear response from a carrier",
};
