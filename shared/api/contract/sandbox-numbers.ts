import type { DeliveryErrorCode, MessageErrorCode } from "./sms.ts";

/** The outcome of messages to one number at the sandbox carrier. */
export interface SandboxNumber {
  /** The outcome in the words of the pages. */
  readonly text: string;
  /** The carrier rejects the message. */
  readonly rejection?: { readonly errorCode: MessageErrorCode; readonly providerCode: string };
  /** How many times the carrier throttles a message before it accepts it. */
  readonly throttledTimes?: number;
  /** The delivery receipt of an accepted message. */
  readonly receipt?: {
    readonly delaySeconds: number;
    readonly status: "delivered" | "undelivered";
    readonly errorCode?: DeliveryErrorCode;
  };
  /** The reply to an accepted test message. */
  readonly reply?: { readonly delaySeconds: number; readonly message: string };
}

const sent = "`sent`, without a delivery receipt";
const sentAtThirdAttempt = "`sent` at the third attempt, after about six seconds";

/**
 * The numbers that decide the outcome of a message at the sandbox carrier, which gets all test messages. They are not
 * assigned, so no policy applies to them. Messages to other numbers are sent, without a delivery receipt.
 */
export const sandboxNumbers: Readonly<Record<string, SandboxNumber>> = {
  "15005550000": { text: sent },
  "15005550001": {
    text: "`failed`: the number is invalid",
    rejection: { errorCode: "MESSAGE_INVALID_DESTINATION", providerCode: "invalid" },
  },
  "15005550002": {
    text: "`failed`: no carrier delivers to it",
    rejection: { errorCode: "MESSAGE_UNROUTABLE", providerCode: "unroutable" },
  },
  "15005550003": { text: sentAtThirdAttempt, throttledTimes: 2 },
  "15005550004": { text: sentAtThirdAttempt, throttledTimes: 2 },
  "15005550005": { text: sent },
  "15005550006": {
    text: "`failed`: error of the carrier",
    rejection: { errorCode: "MESSAGE_PROVIDER_ERROR", providerCode: "rejected" },
  },
  "15005550007": {
    text: "`sent`, and `delivered` after a second",
    receipt: { delaySeconds: 1, status: "delivered" },
  },
  "15005550008": {
    text: "`sent`, and `undelivered` after a second",
    receipt: { delaySeconds: 1, status: "undelivered", errorCode: "DELIVERY_UNREACHABLE" },
  },
  "15005550009": {
    text: "`sent`, and `delivered` after 30 seconds",
    receipt: { delaySeconds: 30, status: "delivered" },
  },
  "15005550010": {
    text: "`sent`, and replies to a test message after a second",
    reply: { delaySeconds: 1, message: "Thank you!" },
  },
};
