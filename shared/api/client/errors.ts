import type { ErrorCode, ErrorDetail } from "../contract/errors.ts";

/** Any error that the package throws. */
export class SmsGatewayError extends Error {}

/** A response that is not a success. Its message has the code, the reason, and the first wrong field. */
export class RequestError extends SmsGatewayError {
  override readonly name = "RequestError";
  readonly status: number;
  /** Absent if API Gateway itself responded. A newer gateway may send codes that this version does not list. */
  readonly code: ErrorCode | undefined;
  /** The gateway's own sentence. */
  readonly reason: string;
  readonly requestId: string | undefined;
  /** The fields that a VALIDATION_ERROR is about. */
  readonly details: readonly ErrorDetail[];
  /** The page that explains the code, if the gateway serves documentation. */
  readonly docUrl: string | undefined;
  /** How long to wait before the next try, if the response has `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(response: Response, text: string) {
    const error = errorIn(text);
    const { code, details = [], message: reason = `the gateway responded with ${response.status}` } = error;
    const wrong = details.slice(0, 1).map(({ path, message }) => ` ${path}: ${message}`);
    super(`${code === undefined ? "" : `${code}: `}${reason}${wrong.join("")}`);
    this.status = response.status;
    this.code = code;
    this.reason = reason;
    this.requestId = error.requestId;
    this.details = details;
    this.docUrl = error.docUrl;
    const retryAfter = response.headers.get("Retry-After");
    this.retryAfterSeconds = retryAfter === null ? undefined : Number(retryAfter);
  }
}

/** No valid response: the connection failed, or the attempt exceeded its time limit. `cause` is the reason. */
export class ConnectionError extends SmsGatewayError {
  override readonly name = "ConnectionError";

  constructor(cause: unknown) {
    super(`no valid response from the gateway: ${innermostReason(cause)}`, { cause });
  }
}

/** Returns the text of the first cause, because `fetch` wraps it. */
function innermostReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return innermostReason(error.cause);
  // An error about several addresses has no message.
  return error.message === "" && "code" in error ? String(error.code) : error.message;
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
