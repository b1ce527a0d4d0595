import type { ErrorCode } from "./errors.ts";

/**
 * What a caller can do about each error. The API reference, the README and the console show it. Functions leave it out,
 * for no answer carries it.
 */
export const remedies: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: "Correct the fields named in `details` and send the request again.",
  MISSING_SENDER_ID: "Pass `senderId`, or have a sender ID approved for the organisation.",
  WALLET_MISSING: "Ask the operator of the gateway to open a wallet for the organisation.",
  INVALID_EMAIL_TOKEN: "Ask for a new email, and use the link in the newest one.",
  UNAUTHORIZED: "Log in again for a fresh token, or use an API key that has not been disabled.",
  INVALID_CREDENTIALS: "Check both and log in again.",
  SECOND_FACTOR_REQUIRED: "Log in again with `code`: the six digits of your app, or a recovery code.",
  INVALID_SECOND_FACTOR: "Take the next code of your app, or a recovery code that was not used.",
  INSUFFICIENT_BALANCE: "Top up the wallet, then send the message again.",
  DAILY_SPEND_CAP_REACHED: "Wait until the next day (UTC), as `Retry-After` says, or have the cap raised.",
  PAYMENT_REQUIRED: "Top up the wallet, or have it credited, then send the request again.",
  TOP_UP_DISABLED: "Ask the operator of the gateway to credit the wallet.",
  EMAIL_DISABLED: "Ask the operator of the gateway to do it for you.",
  ORGANIZATION_SUSPENDED: "Ask the operator of the gateway why, and what is needed to go on.",
  INSUFFICIENT_SCOPE: "Use a credential with the scope that the operation names, or log in.",
  REAUTHENTICATION_REQUIRED:
    "Call `POST /v1/auth/reauthenticate` with the password, and a code if you have a second factor; then repeat.",
  ADDRESS_NOT_ALLOWED: "Call from one of the key's `allowedAddresses`, or make another key.",
  EMAIL_NOT_VERIFIED:
    "Open the link that was sent to the address that you registered with, on the laptop at `/mailbox`, or ask the " +
    "operator of the gateway.",
  KYC_REQUIRED: "Submit your particulars with `POST /v1/kyc` and wait for the operator's approval.",
  SENDER_ID_NOT_APPROVED:
    "Use a sender ID of yours that is approved, or request this one with `POST /v1/sender-ids`.",
  DESTINATION_NOT_ALLOWED:
    "Ask the operator of the gateway which countries and types of numbers it sends to.",
  DESTINATION_NOT_PRICED:
    "See `GET /v1/prices` for what is sold; ask the operator of the gateway for a price.",
  RECIPIENT_OPTED_OUT:
    "Send it no marketing. Where the person has answered STOP, only messages of the type `otp` reach it until they " +
    "answer START.",
  OPT_OUT_BY_REPLY: "Wait until they answer START, or ask the operator of the gateway to lift it.",
  NOT_FOUND: "Check the path and the id; ids of another organisation are not found either.",
  METHOD_NOT_ALLOWED: "Use one of the methods in the `Allow` header.",
  CONFLICT: "Read the resource again and decide anew.",
  EMAIL_TAKEN: "Log in, or register with another email.",
  LAST_OWNER: "Make another member an owner first.",
  IDEMPOTENCY_IN_PROGRESS: "Wait a moment and send the same request again for its answer.",
  IDEMPOTENCY_KEY_REUSED: "Use a new key for a new request; send the same body to repeat an old one.",
  PAYLOAD_TOO_LARGE: "Send a smaller body.",
  UNSUPPORTED_MEDIA_TYPE: "Set the Content-Type header to application/json.",
  RATE_LIMITED: "Wait the number of seconds in the `Retry-After` header.",
  SEND_RATE_EXCEEDED: "Wait the number of seconds in the `Retry-After` header, and send more slowly.",
  RECIPIENT_RATE_EXCEEDED:
    "Wait the number of seconds in the `Retry-After` header; see who makes you send so many messages.",
  INTERNAL: "Try again later; quote the `requestId` when it persists.",
  UNAVAILABLE: "Try again; a charge whose message was not accepted is returned by itself.",
};
