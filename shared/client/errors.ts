import type { ErrorCode, ErrorDetail } from "../contract/errors.ts";

/** A response that is not a success. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly status: number;
  /** Absent if API Gateway itself responded. A newer gateway may send codes that this version does not list. */
  readonly code: ErrorCode | undefined;
  readonly requestId: string | undefined;
  /** The fields that a VALIDATION_ERROR is about. */
  readonly details: readonly ErrorDetail[];
  /** The page that explains the code, if the gateway serves documentation. */
  readonly docUrl: string | undefined;
  /** How long to wait before the next try, if the response has `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(response: Response, text: string) {
    const error = errorIn(text);
    super(error.message ?? `the gateway responded with ${response.status}`);
    this.status = response.status;
    this.code = error.code;
    this.requestId = error.requestId;
    this.details = error.details ?? [];
    this.docUrl = error.docUrl;
    const retryAfter = response.headers.get("Retry-After");
    this.retryAfterSeconds = retryAfter === null ? undefined : Number(retryAfter);
  }
}

/** No valid response: the connection failed, or the attempt exceeded its time limit. `cause` is the reason. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";

  constructor(cause: unknown) {
    super(`no valid response from the gateway: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** The error of a response body, without fields if the body has none: API Gateway has its own format. */
function errorIn(text: string): {
  readonly code?: ErrorCode;
  readonly message?: string;
  readonly requestId?: string;
  readonly details?: readonly ErrorDetail[];
  readonly docUrl?: string;
} {
  try {
    const { error = {} } = JSON.parse(text);
    return error;
  } catch {
    return {};
  }
}
