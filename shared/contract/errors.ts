interface CatalogueEntry {
  readonly status: number;
  /** What the caller reads when the place that raises the error has nothing more exact to say. */
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
    message: "No senderId was given and the organisation has no approved sender ID.",
  },
  WALLET_MISSING: {
    status: 400,
    message: "The organisation has no wallet.",
  },
  INVALID_EMAIL_TOKEN: {
    status: 400,
    message: "The link is not good: it was used, has run out, or a newer one was sent.",
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
    message: "The password is right, and a code of the second factor is needed too.",
  },
  INVALID_SECOND_FACTOR: {
    status: 401,
    message: "The code is wrong, was used before, or its time is over.",
  },
  INSUFFICIENT_BALANCE: {
    status: 402,
    message: "The wallet balance does not cover this message.",
  },
  DAILY_SPEND_CAP_REACHED: {
    status: 402,
    message: "The organisation has spent what it may spend in a day.",
  },
  PAYMENT_REQUIRED: {
    status: 402,
    message: "This takes a wallet that money has come into.",
  },
  TOP_UP_DISABLED: {
    status: 403,
    message: "Top-ups over the API are disabled here.",
  },
  EMAIL_DISABLED: {
    status: 403,
    message: "This gateway sends no emails.",
  },
  ORGANIZATION_SUSPENDED: {
    status: 403,
    message: "The organisation is suspended.",
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    message: "This credential may not do this.",
  },
  REAUTHENTICATION_REQUIRED: {
    status: 403,
    message: "This needs a password that was given in the last ten minutes.",
  },
  ADDRESS_NOT_ALLOWED: {
    status: 403,
    message: "This API key may not be used from this address.",
  },
  EMAIL_NOT_VERIFIED: {
    status: 403,
    message: "The organisation sends nothing before the email of its owner is verified.",
  },
  KYC_REQUIRED: {
    status: 403,
    message: "The organisation sends nothing before its KYC submission is approved.",
  },
  SENDER_ID_NOT_APPROVED: {
    status: 403,
    message: "The sender ID is not approved for the organisation; one of digits alone never is.",
  },
  DESTINATION_NOT_ALLOWED: {
    status: 403,
    message: "No messages are sent to numbers like this one from here.",
  },
  DESTINATION_NOT_PRICED: {
    status: 403,
    message: "There is no price for numbers like this one, so that nothing is sent to them.",
  },
  RECIPIENT_OPTED_OUT: {
    status: 403,
    message: "This number has opted out.",
  },
  OPT_OUT_BY_REPLY: {
    status: 403,
    message: "The person has opted out by answering STOP, so you cannot lift the opt-out.",
  },
  NOT_FOUND: {
    status: 404,
    message: "There is no such resource.",
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    message: "This path does not take this method.",
  },
  CONFLICT: {
    status: 409,
    message: "The request conflicts with the present state of the resource.",
  },
  EMAIL_TAKEN: {
    status: 409,
    message: "An account with this email exists.",
  },
  LAST_OWNER: {
    status: 409,
    message: "The organisation would have no owner.",
  },
  IDEMPOTENCY_IN_PROGRESS: {
    status: 409,
    message: "A request with this Idempotency-Key is still being worked on.",
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    message: "This Idempotency-Key came with another request before.",
  },
  PAYLOAD_TOO_LARGE: {
    status: 413,
    message: "The request body is too large.",
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    message: "The request body must be sent as Content-Type: application/json.",
  },
  RATE_LIMITED: {
    status: 429,
    message: "Too many requests.",
  },
  SEND_RATE_EXCEEDED: {
    status: 429,
    message: "The organisation has sent what it may send in a second.",
  },
  RECIPIENT_RATE_EXCEEDED: {
    status: 429,
    message: "This number has got as many messages of this type as it may get for now.",
  },
  INTERNAL: {
    status: 500,
    message: "Something went wrong on our side.",
  },
  UNAVAILABLE: {
    status: 503,
    message: "The request could not be completed now.",
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
}

/** An error that is meant for the caller: its code, message and details go out in the response as they are. */
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
