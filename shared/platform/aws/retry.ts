/** How often a request may be sent. */
export interface RetryRules {
  /** If AWS reports that it did not execute the request. */
  readonly maxAttempts: number;
  /** If the outcome is unknown; 1 for requests that must not be applied twice. */
  readonly maxUnheardAttempts: number;
}

/** The attempts that are worth their time while a caller waits. */
export const patientAttempts = 8;

/** Longest wait between two attempts; the waits double up to it and are random below it. */
const maxDelayMs = 1_000;
const firstDelayMs = 25;

/**
 * The meaning of an error for its request. `refused`: AWS rejected it, and a later attempt may succeed. `unheard`: the response
 * was lost, and the request may have been executed. `final`: the same request would fail again.
 */
export type RetryKind = "final" | "refused" | "unheard";

/** The errors of AWS for too many requests, as the SDK lists them. */
const throttlingErrors = new Set([
  "BandwidthLimitExceeded",
  "LimitExceededException",
  "PriorRequestNotComplete",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "RequestThrottled",
  "RequestThrottledException",
  "SlowDown",
  "ThrottledException",
  "Throttling",
  "ThrottlingException",
  "TooManyRequestsException",
  "TransactionInProgressException",
]);

/** A plain write met a transaction on the same item, or another write of the same object. */
const conflicts = new Set(["ConditionalRequestConflict", "TransactionConflictException"]);

const passingErrors = new Set(["RequestTimeout", "RequestTimeoutException", "TimeoutError"]);
const passingStatuses = new Set([500, 502, 503, 504]);

/** The errors of Node for a network failure, before or after the request arrived. */
const networkErrors = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

export function retryKindOf(error: unknown): RetryKind {
  if (!(error instanceof Error)) return "final";
  const status = statusOf(error);
  if (status === 429 || throttlingErrors.has(error.name) || conflicts.has(error.name)) return "refused";
  const code = "code" in error ? String(error.code) : "";
  const isPassing = passingErrors.has(error.name) || passingStatuses.has(status) || networkErrors.has(code);
  return isPassing ? "unheard" : "final";
}

function statusOf(error: Error): number {
  return "$metadata" in error ? Number(Object(error.$metadata).httpStatusCode) : 0;
}

/** Whether a request is sent again after a number of attempts, the last with an error of this kind. */
export function mayRepeat(kind: RetryKind, attempts: number, rules: RetryRules): boolean {
  if (kind === "final" || attempts >= rules.maxAttempts) return false;
  return kind === "refused" || attempts < rules.maxUnheardAttempts;
}

/** Returns the delay after a number of attempts. */
export function retryDelayMs(attempts: number): number {
  return Math.random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempts - 1));
}

/**
 * Prevents a client from repeating every request of an outage. It limits the repeats until requests succeed again. The numbers
 * are those of the SDK.
 */
export class RetryBudget {
  static readonly full = 500;
  static readonly cost = 5;
  #left = RetryBudget.full;

  /** @returns whether there is one left */
  take(): boolean {
    if (this.#left < RetryBudget.cost) return false;
    this.#left -= RetryBudget.cost;
    return true;
  }

  /** Adds to the budget after a request succeeded. @param repeats how many repeats it needed */
  refund(repeats: number): void {
    this.#left = Math.min(RetryBudget.full, this.#left + (repeats === 0 ? 1 : RetryBudget.cost));
  }
}
