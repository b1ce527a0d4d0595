interface CatalogueEntry {
  readonly status: number;
  /** What the caller reads when the place that raises the error has nothing more exact to say. */
  readonly message: string;
  /** What the caller can do about it. */
  readonly remedy: string;
}

/** Every error code an HTTP response of this API can carry, with its status. */
export const errorCatalogue = {
  VALIDATION_ERROR: {
    status: 400,
    message: "The request is not valid.",
    remedy: "Correct the fields named in `details` and send the request again.",
  },
  MISSING_SENDER_ID: {
    status: 400,
    message: "No senderId was given and the organisation has no approved sender ID.",
    remedy: "Pass `senderId`, or have a sender ID approved for the organisation.",
  },
  WALLET_MISSING: {
    status: 400,
    message: "The organisation has no wallet.",
    remedy: "Ask the operator of the gateway to open a wallet for the organisation.",
  },
  INVALID_EMAIL_TOKEN: {
    status: 400,
    message: "The link is not good: it was used, has run out, or a newer one was sent.",
    remedy: "Ask for a new email, and use the link in the newest one.",
  },
  UNAUTHORIZED: {
    status: 401,
    message: "A valid credential is required: Authorization: Bearer <token or API key>.",
    remedy: "Log in again for a fresh token, or use an API key that has not been disabled.",
  },
  INVALID_CREDENTIALS: {
    status: 401,
    message: "The email or the password is wrong.",
    remedy: "Check both and log in again.",
  },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    message: "The password is right, and a code of the second factor is needed too.",
    remedy: "Log in again with `code`: the six digits of your app, or a recovery code.",
  },
  INVALID_SECOND_FACTOR: {
    status: 401,
    message: "The code is wrong, was used before, or its time is over.",
    remedy: "Take the next code of your app, or a recovery code that was not used.",
  },
  INSUFFICIENT_BALANCE: {
    status: 402,
    message: "The wallet balance does not cover this message.",
    remedy: "Top up the wallet, then send the message again.",
  },
  DAILY_SPEND_CAP_REACHED: {
    status: 402,
    message: "The organisation has spent what it may spend in a day.",
    remedy: "Wait until the next day (UTC), as `Retry-After` says, or have the cap raised.",
  },
  PAYMENT_REQUIRED: {
    status: 402,
    message: "This takes a wallet that money has come into.",
    remedy: "Top up the wallet, or have it credited, then send the request again.",
  },
  TOP_UP_DISABLED: {
    status: 403,
    message: "Top-ups over the API are disabled here.",
    remedy: "Ask the operator of the gateway to credit the wallet.",
  },
  EMAIL_DISABLED: {
    status: 403,
    message: "This gateway sends no emails.",
    remedy: "Ask the operator of the gateway to do it for you.",
  },
  ORGANIZATION_SUSPENDED: {
    status: 403,
    message: "The organisation is suspended.",
    remedy: "Ask the operator of the gateway why, and what is needed to go on.",
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    message: "This credential may not do this.",
    remedy: "Use a credential with the scope that the operation names, or log in.",
  },
  REAUTHENTICATION_REQUIRED: {
    status: 403,
    message: "This needs a password that was given in the last ten minutes.",
    remedy:
      "Call `POST /v1/auth/reauthenticate` with the password, and a code if you have a second factor; then repeat.",
  },
  ADDRESS_NOT_ALLOWED: {
    status: 403,
    message: "This API key may not be used from this address.",
    remedy: "Call from one of the key's `allowedAddresses`, or make another key.",
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    message: "The organisation sends nothing before the email of its owner is verified.",
    remedy:
      "Open the link that was sent to the address that you registered with, on the laptop at `/mailbox`, or ask the " +
      "operator of the gateway.",
  },
  KYC_REQUIRED: {
    status: 403,
    message: "The organisation sends nothing before its KYC submission is approved.",
    remedy: "Submit your particulars with `POST /v1/kyc` and wait for the operator's approval.",
  },
  SENDER_ID_NOT_APPROVED: {
    status: 403,
    message: "The sender ID is not approved for the organisation; one of digits alone never is.",
    remedy: "Use a sender ID of yours that is approved, or request this one with `POST /v1/sender-ids`.",
  },
  DESTINATION_NOT_ALLOWED: {
    status: 403,
    message: "No messages are sent to numbers like this one from here.",
    remedy: "Ask the operator of the gateway which countries and types of numbers it sends to.",
  },
  DESTINATION_NOT_PRICED: {
    status: 403,
    message: "There is no price for numbers like this one, so that nothing is sent to them.",
    remedy: "See `GET /v1/prices` for what is sold; ask the operator of the gateway for a price.",
  },
  RECIPIENT_OPTED_OUT: {
    status: 403,
    message: "This number has opted out.",
    remedy:
      "Send it no marketing. Where the person has answered STOP, only messages of the type `otp` reach it until they " +
      "answer START.",
  },
  OPT_OUT_BY_REPLY: {
    status: 403,
    message: "The person has opted out by answering STOP, so you cannot lift the opt-out.",
    remedy: "Wait until they answer START, or ask the operator of the gateway to lift it.",
  },
  NOT_FOUND: {
    status: 404,
    message: "There is no such resource.",
    remedy: "Check the path and the id; ids of another organisation are not found either.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "This path does not take this method.",
    remedy: "Use one of the methods in the `Allow` header.",
  },
  CONFLICT: {
    status: 409,
    message: "The request conflicts with the present state of the resource.",
    remedy: "Read the resource again and decide anew.",
  },
  EMAIL_TAKEN: {
    status: 409,
    message: "An account with this email exists.",
    remedy: "Log in, or register with another email.",
  },
  LAST_OWNER: {
    status: 409,
    message: "The organisation would have no owner.",
    remedy: "Make another member an owner first.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: "A request with this Idempotency-Key is still being worked on.",
    remedy: "Wait a moment and send the same request again for its answer.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: "This Idempotency-Key came with another request before.",
    remedy: "Use a new key for a new request; send the same body to repeat an old one.",
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: "The request body is too large.",
    remedy: "Send a smaller body.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: "The request body must be sent as Content-Type: application/json.",
    remedy: "Set the Content-Type header to application/json.",
  },
  RATE_LIMITED: {
    status: 429,
    message: "Too many requests.",
    remedy: "Wait the number of seconds in the `Retry-After` header.",
  },
  SEND_RATE_EXCEEDED: {
    status: 429,
    message: "The organisation has sent what it may send in a second.",
    remedy: "Wait the number of seconds in the `Retry-After` header, and send more slowly.",
  },
  RECIPIENT_RATE_EXCEEDED: {
    status: 429,
    message: "This number has got as many messages of this type as it may get for now.",
    remedy:
      "Wait the number of seconds in the `Retry-After` header; see who makes you send so many messages.",
  },
  INTERNAL: {
    status: 500,
    message: "Something went wrong on our side.",
    remedy: "Try again later; quote the `requestId` when it persists.",
  },
  UNAVAILABLE: {
    status: 503,
    message: "The request could not be completed now.",
    remedy: "Try again; a charge whose message was not accepted is returned by itself.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/** What a message may be refused with, whichever way it is sent. */
export const sendErrors = [
  "MISSING_SENDER_ID",
  "EMAIL_NOT_VERIFIED",
  "KYC_REQUIRED",
  "SENDER_ID_NOT_APPROVED",
  "DESTINATION_NOT_ALLOWED",
  "DESTINATION_NOT_PRICED",
  "RECIPIENT_OPTED_OUT",
  "WALLET_MISSING",
  "INSUFFICIENT_BALANCE",
  "DAILY_SPEND_CAP_REACHED",
  "SEND_RATE_EXCEEDED",
  "RECIPIENT_RATE_EXCEEDED",
] as const satisfies readonly ErrorCode[];

export interface ErrorDetail {
  /** The field, in dot notation from the root of the body, query or path; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** An error that is meant for the caller: its code, message and details go out in the response as they are. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    options: {
      message?: string;
      details?: readonly ErrorDetail[];
      headers?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(options.message ?? errorCatalogue[code].message, { cause: options.cause });
    this.code = code;
    this.details = options.details;
    this.headers = options.headers ?? {};
  }
}

/** A VALIDATION_ERROR about one field, for rules that a schema cannot state. */
export function invalidField(path: string, message: string): ApiError {
  return new ApiError("VALIDATION_ERROR", { details: [{ path, message }] });
}
