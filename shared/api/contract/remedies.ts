import type { ErrorCode } from "./errors.ts";

/**
 * The remedy for each error, for the documentation, this folder's README and the console. Responses do not contain it, so the
 * bundles of functions leave it out.
 */
export const remedies: Readonly<Record<ErrorCode, string>> = {
  VALIDATION_ERROR: "Correct the fields named in `details` and send the request again.",
  MISSING_SENDER_ID: "Pass `senderId`, or have a sender ID approved for the organization.",
  INVALID_SIGNATURE: "Sign the raw body with the present secret and time.",
  WALLET_MISSING: "Ask the operator of the gateway to open a wallet for the organization.",
  INVALID_EMAIL_TOKEN: "Request a new email, and use the link in the newest one.",
  UNAUTHORIZED: "Log in again for a new token, or use an API key that is not disabled.",
  INVALID_CREDENTIALS: "Check both and log in again.",
  SECOND_FACTOR_REQUIRED:
    "Log in again with `code`: the six digits from your authenticator app, or a recovery code.",
  INVALID_SECOND_FACTOR: "Use the next code from your authenticator app, or an unused recovery code.",
  INSUFFICIENT_BALANCE: "Top up the wallet, then send the message again.",
  BALANCE_NEGATIVE: "Pay at least the missing amount, or contact the operator of the gateway.",
  DAILY_SPEND_CAP_REACHED:
    "Wait until the next day (UTC), for the seconds in `Retry-After`, or have the cap raised.",
  KEY_BUDGET_REACHED:
    "Wait until the next day (UTC), for the seconds in `Retry-After`, or use a key with a higher `limits.dailyBudget`.",
  PAYMENT_REQUIRED: "Top up the wallet, or ask the operator to credit it, then send the request again.",
  PAYMENT_METHOD_DISABLED: "Use one of the `methods` that `GET /v1/billing` returns.",
  TOP_UP_DISABLED: "Ask the operator of the gateway to credit the wallet.",
  EMAIL_DISABLED: "Ask the operator of the gateway for help.",
  ORGANIZATION_SUSPENDED: "Ask the operator of the gateway for the reason, and how to lift the suspension.",
  SENDING_PAUSED:
    "Find out why it was paused. Then resume it in the console, or with `PATCH /v1/wallet` and `sendingPaused: false`.",
  INSUFFICIENT_SCOPE: "Use a credential with the scope that the operation requires, or log in.",
  TEST_KEY_NOT_ALLOWED:
    "Use a live API key, or log in. A test key sends and reads test messages, and manages webhooks for them.",
  REAUTHENTICATION_REQUIRED:
    "Call `POST /v1/auth/reauthenticate` with your password, and a code if you have a second factor. Then repeat the request.",
  SECOND_FACTOR_NOT_SET_UP:
    "Set one up in the console, or with `POST /v1/auth/totp` and `POST /v1/auth/totp/confirm`. Then repeat the request.",
  ADDRESS_NOT_ALLOWED: "Call from one of the key's `allowedAddresses`, or create another key.",
  RECIPIENT_NOT_ALLOWED_FOR_KEY: "Send to one of the key's `limits.allowedRecipients`, or use another key.",
  OUTSIDE_KEY_HOURS: "Set `scheduledAt` to a time within the key's `limits.hours`, or use another key.",
  EMAIL_NOT_VERIFIED:
    "Open the link that was sent to your registered email address. A local gateway shows it in its mailbox, whose address `npm start` prints.",
  KYC_REQUIRED:
    "Submit your organization's details with `POST /v1/kyc` and wait for the operator's approval.",
  SENDER_ID_NOT_APPROVED: "Use an approved sender ID, or request this one with `POST /v1/sender-ids`.",
  SENDER_NOT_ALLOWED_IN_COUNTRY:
    "Send from a number that the operator has assigned to you, as `from`. `details` states the rule of the country.",
  DESTINATION_NOT_ALLOWED:
    "Ask the operator of the gateway for the supported countries and types of numbers.",
  DESTINATION_NOT_PRICED:
    "See `GET /v1/prices` for the destinations with a price, or ask the operator of the gateway to add one.",
  MESSAGE_TOO_LONG: "Send a shorter text, or several messages. Nothing was charged.",
  VERIFICATION_BLOCKED:
    "Wait the number of seconds in the `Retry-After` header. Check that no one abuses your forms, or adapt the profile.",
  RECIPIENT_OPTED_OUT:
    "Do not send marketing to this number. If the person replied STOP, only messages of the type `otp` are sent until " +
    "they reply START.",
  OPT_OUT_BY_REPLY:
    "Wait until the person replies START, or ask the operator of the gateway to lift the opt-out.",
  NOT_FOUND: "Check the path and the id. Resources of other organizations are not found either.",
  VERIFICATION_NOT_PENDING:
    "Start a new verification. This one was approved, failed, expired, or never existed.",
  METHOD_NOT_ALLOWED: "Use one of the methods in the `Allow` header.",
  CONFLICT: "Read the resource again, and send a request that fits its current state.",
  NO_RECIPIENTS: "Import contacts, give them the tags of the audience, or change the audience.",
  EMAIL_TAKEN: "Log in, or register with another email.",
  LAST_OWNER: "Make another member an owner first.",
  IDEMPOTENCY_IN_PROGRESS: "Wait a moment, then send the same request again to get its response.",
  IDEMPOTENCY_KEY_REUSED:
    "Use a new key for a new request, or send the original body to repeat the earlier request.",
  PAYLOAD_TOO_LARGE: "Send a smaller body.",
  UNSUPPORTED_MEDIA_TYPE: "Set the Content-Type header to application/json.",
  RATE_LIMITED: "Wait the number of seconds in the `Retry-After` header.",
  SEND_RATE_EXCEEDED: "Wait the number of seconds in the `Retry-After` header, and send more slowly.",
  RECIPIENT_RATE_EXCEEDED:
    "Wait the number of seconds in the `Retry-After` header. Check that no one abuses your forms to send messages.",
  TOO_MANY_CHECKS:
    "Start a new verification. If the response has `Retry-After`, the number was checked too often: wait that long first.",
  TOO_MANY_SENDS: "Wait the number of seconds in the `Retry-After` header, then send the code again.",
  TEST_LIMIT_REACHED: "Wait until the next day (UTC), for the seconds in `Retry-After`.",
  INTERNAL: "Try again later. If the error persists, report the `requestId`.",
  PAYMENT_PROVIDER_UNAVAILABLE: "Try again in a moment. Nothing was charged.",
  UNAVAILABLE: "Try again. A charge whose message was not accepted is refunded automatically.",
};
