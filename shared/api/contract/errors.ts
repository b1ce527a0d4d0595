interface CatalogueEntry {
  readonly status: number;
  /** The message of the response, unless the code that throws the error gives a more exact one. */
  readonly message: string;
}

/** Every error code an HTTP response of this API can carry, with its status. */
export const errorCatalogue = {
  VALIDATION_ERROR: {
    status: 400,
    message: "The request is not valid.",
  },
  MISSING_SENDER_ID: {
    status: 400,
    message: "No senderId was given and the organization has no approved sender ID.",
  },
  INVALID_SIGNATURE: {
    status: 400,
    message: "The signature of the event is not valid.",
  },
  WALLET_MISSING: {
    status: 400,
    message: "The organization has no wallet.",
  },
  INVALID_EMAIL_TOKEN: {
    status: 400,
    message: "The link was used, has expired, or a newer email has replaced it.",
  },
  UNAUTHORIZED: {
    status: 401,
    message: "A valid credential is required: Authorization: Bearer <token or API key>.",
  },
  INVALID_CREDENTIALS: {
    status: 401,
    message: "The email or the password is wrong.",
  },
  SECOND_FACTOR_REQUIRED: {
    status: 401,
    message: "The password is correct, and a code of the second factor is required.",
  },
  INVALID_SECOND_FACTOR: {
    status: 401,
    message: "The code is wrong, expired, or was used before.",
  },
  INSUFFICIENT_BALANCE: {
    status: 402,
    message: "The wallet balance does not cover this message.",
  },
  BALANCE_NEGATIVE: {
    status: 402,
    message: "The balance is negative, because the bank took back a payment.",
  },
  DAILY_SPEND_CAP_REACHED: {
    status: 402,
    message: "The organization has reached its daily spend cap.",
  },
  KEY_BUDGET_REACHED: {
    status: 402,
    message: "The API key has reached its daily budget.",
  },
  PAYMENT_REQUIRED: {
    status: 402,
    message: "Add funds to the wallet before using this feature.",
  },
  PAYMENT_METHOD_DISABLED: {
    status: 403,
    message: "This gateway does not accept payments by this method.",
  },
  TOP_UP_DISABLED: {
    status: 403,
    message: "Top-ups through the API are disabled on this gateway.",
  },
  EMAIL_DISABLED: {
    status: 403,
    message: "This gateway sends no emails.",
  },
  ORGANIZATION_SUSPENDED: {
    status: 403,
    message: "The organization is suspended.",
  },
  SENDING_PAUSED: {
    status: 403,
    message: "A member of the organization has paused all sending.",
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    message: "This credential does not have the required scope.",
  },
  TEST_KEY_NOT_ALLOWED: {
    status: 403,
    message: "A test key cannot do this.",
  },
  REAUTHENTICATION_REQUIRED: {
    status: 403,
    message: "This operation requires a login or password confirmation within the last ten minutes.",
  },
  SECOND_FACTOR_NOT_SET_UP: {
    status: 403,
    message: "The organization requires a second factor of its members, and you have not set one up.",
  },
  ADDRESS_NOT_ALLOWED: {
    status: 403,
    message: "This API key may not be used from this address.",
  },
  RECIPIENT_NOT_ALLOWED_FOR_KEY: {
    status: 403,
    message: "This API key may not send to this number.",
  },
  OUTSIDE_KEY_HOURS: {
    status: 403,
    message: "This API key may not send at this time of the day.",
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    message: "The organization cannot send before its owner's email is verified.",
  },
  KYC_REQUIRED: {
    status: 403,
    message: "The organization cannot send before its KYC submission is approved.",
  },
  SENDER_ID_NOT_APPROVED: {
    status: 403,
    message:
      "The sender ID is not approved for the organization. Sender IDs of digits only are never approved.",
  },
  SENDER_NOT_ALLOWED_IN_COUNTRY: {
    status: 403,
    message: "Networks of the recipient's country accept no letters as the sender.",
  },
  DESTINATION_NOT_ALLOWED: {
    status: 403,
    message: "This gateway does not send to this country or type of number.",
  },
  DESTINATION_NOT_PRICED: {
    status: 403,
    message: "The gateway has no price for this destination.",
  },
  MESSAGE_TOO_LONG: {
    status: 400,
    message: "The text has more segments than any carrier for this destination sends as one message.",
  },
  VERIFICATION_BLOCKED: {
    status: 403,
    message: "The guard against fraud has blocked this verification.",
  },
  RECIPIENT_OPTED_OUT: {
    status: 403,
    message: "The recipient has opted out.",
  },
  OPT_OUT_BY_REPLY: {
    status: 403,
    message: "The person opted out by replying STOP, so you cannot lift the opt-out.",
  },
  NOT_FOUND: {
    status: 404,
    message: "The resource does not exist.",
  },
  VERIFICATION_NOT_PENDING: {
    status: 404,
    message: "No such verification is pending.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "This path does not support this method.",
  },
  CONFLICT: {
    status: 409,
    message: "The request conflicts with the current state of the resource.",
  },
  NO_RECIPIENTS: {
    status: 409,
    message: "The audience of the campaign has no contacts.",
  },
  EMAIL_TAKEN: {
    status: 409,
    message: "An account with this email already exists.",
  },
  LAST_OWNER: {
    status: 409,
    message: "The organization would have no owner.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: "A request with this Idempotency-Key is still in progress.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: "This Idempotency-Key was used with a different request.",
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: "The request body is too large.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: "Send uncompressed JSON as Content-Type: application/json.",
  },
  RATE_LIMITED: {
    status: 429,
    message: "Too many requests.",
  },
  SEND_RATE_EXCEEDED: {
    status: 429,
    message: "The organization has reached its limit of messages per second.",
  },
  RECIPIENT_RATE_EXCEEDED: {
    status: 429,
    message: "The recipient has reached the limit for messages of this type.",
  },
  TOO_MANY_CHECKS: {
    status: 429,
    message: "The code was checked too often.",
  },
  TOO_MANY_SENDS: {
    status: 429,
    message: "The code cannot be sent again yet.",
  },
  TEST_LIMIT_REACHED: {
    status: 429,
    message: "The organization has reached its limit of test messages per day.",
  },
  INTERNAL: {
    status: 500,
    message: "Something went wrong on our side.",
  },
  PAYMENT_PROVIDER_UNAVAILABLE: {
    status: 503,
    message: "The payment provider cannot be reached now.",
  },
  UNAVAILABLE: {
    status: 503,
    message: "The request could not be completed now.",
  },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

export interface ErrorDetail {
  /** The field, in dot notation from the root of the body, query or path; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** A rate limit and what is left of it. */
export interface RateLimitStatus {
  readonly name: string;
  readonly max: number;
  readonly windowMs: number;
  readonly remaining: number;
  /** When more is available. */
  readonly resetSeconds: number;
}

/** Facts about an error that the API reports in headers. */
export interface ErrorFacts {
  readonly retryAfterSeconds?: number;
  readonly rateLimit?: RateLimitStatus;
  readonly requiredScope?: string;
  readonly allowedMethods?: readonly string[];
  /** Whether nothing was charged, or its money is back. It is in no header. */
  readonly isUncharged?: boolean;
  /** Whether the message may have been accepted. It is in no header. */
  readonly mayBeAccepted?: boolean;
}

/** An error for the caller: the response has its code, message and details unchanged. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly facts: ErrorFacts;

  constructor(
    code: ErrorCode,
    options: ErrorFacts & {
      readonly message?: string;
      readonly details?: readonly ErrorDetail[];
      readonly cause?: unknown;
    } = {},
  ) {
    const { message = errorCatalogue[code].message, details, cause, ...facts } = options;
    super(message, { cause });
    this.code = code;
    this.details = details;
    this.facts = facts;
  }
}

/** A VALIDATION_ERROR about one field, for rules that a schema cannot state. */
export function invalidField(path: string, message: string): ApiError {
  return new ApiError("VALIDATION_ERROR", { details: [{ path, message }] });
}

/** Returns what a request names. @throws ApiError NOT_FOUND when there is none */
export function orNotFound<Item>(item: Item | undefined): Item {
  if (item === undefined) throw new ApiError("NOT_FOUND");
  return item;
}
