import type { DeliveryErrorCode, MessageErrorCode } from "./sms.ts";

/*
 * The reasons of failures, for the documentation, this folder's README and the console. Responses only have the codes, so the
 * bundles of functions leave these texts out.
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
