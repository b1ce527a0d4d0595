/** How often a request may be sent. */
export interface RetryRules {
  /** Where AWS says that it has not carried it out. */
  readonly maxAttempts: number;
  /** Where it is not known what became of it; 1 for requests that must not be applied twice. */
  readonly maxUnheardAttempts: number;
}

/** The attempts that are worth their time while somebody waits. */
export const patientAttempts = 8;

/** Longest wait between two attempts; the waits double up to it and are random below it. */
const maxDelayMs = 1_000;
const firstDelayMs = 25;

/**
 * What an error says about its request. It was `refused`, and may be carried out later. Or it was `unheard`: the answer was
 * lost, and the request may have been carried out. Or the error is `final`: the same request would get it again.
 */
export type RetryKind = "final" | "refused" | "unheard";

/** How AWS says that there are too many requests now, as the SDK lists it. */
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

/** A plain write met a transaction on the same item. */
const conflict = "TransactionConflictException";

const passingErrors = new Set(["RequestTimeout", "RequestTimeoutException", "TimeoutError"]);
const passingStatuses = new Set([500, 502, 503, 504]);

/** How Node says that the network failed, before or after the request arrived. */
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
  if (status === 429 || throttlingErrors.has(error.name) || error.name === conflict) return "refused";
  const code = "code" in error ? String(error.code) : "";
  const isPassing = passingErrors.has(error.name) || passingStatuses.has(status) || networkErrors.has(code);
  return isPassing ? "unheard" : "final";
}

function statusOf(error: Error): number {
  return "$metadata" in error ? Number(Object(error.$metadata).httpStatusCode) : 0;
}

/** Whether a request is sent again after so many attempts, the last of which ended with an error of a kind. */
export function mayRepeat(kind: RetryKind, attempts: number, rules: RetryRules): boolean {
  if (kind === "final" || attempts >= rules.maxAttempts) return false;
  return kind === "refused" || attempts < rules.maxUnheardAttempts;
}

/** How long to wait after so many attempts. */
export function retryDelayMs(attempts: number): number {
  return Math.random() * Math.min(maxDelayMs, firstDelayMs * 2 ** (attempts - 1));
}

/**
 * Keeps a client from repeating every request of an outage: there are only so many repeats until requests get through
 * again. The numbers are the SDK's.
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

  /** A request got through, after so many repeats. */
  refund(repeats: number): void {
    this.#left = Math.min(RetryBudget.full, this.#left + (repeats === 0 ? 1 : RetryBudget.cost));
  }
}
