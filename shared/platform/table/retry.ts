import { StandardRetryStrategy } from "@smithy/core/retry";

type Refresh = StandardRetryStrategy["refreshRetryTokenForRetry"];

/** How often a request is sent at the most, where it is worth waiting for. */
const patientAttempts = 8;

/** Longest wait between two attempts; the waits double up to it and are random below it. */
const maxDelayMs = 1_000;

/**
 * Tells apart what AWS said that it refused, which is tried again, from what it may have done all the same: a lost
 * answer, a time-out or a 500 is tried again only for requests that can be applied twice without harm. The SDK's
 * default strategy repeats the latter and not every one of the former.
 */
export class CarefulRetryStrategy extends StandardRetryStrategy {
  /** How often a request is sent of which it is not known what became of it; 1 for those that must not be applied twice. */
  readonly maxUnheardAttempts: number;

  constructor(maxUnheardAttempts: number, maxAttempts = patientAttempts) {
    super({
      maxAttempts,
      backoff: {
        setDelayBase: () => undefined,
        computeNextBackoffDelay: (attempt) => Math.random() * Math.min(maxDelayMs, 25 * 2 ** attempt),
      },
    });
    this.maxUnheardAttempts = maxUnheardAttempts;
  }

  override async refreshRetryTokenForRetry(
    token: Parameters<Refresh>[0],
    errorInfo: Parameters<Refresh>[1],
  ): ReturnType<Refresh> {
    if (wasSurelyRefused(errorInfo)) {
      return super.refreshRetryTokenForRetry(token, { ...errorInfo, errorType: "THROTTLING" });
    }
    if (token.getRetryCount() + 1 >= this.maxUnheardAttempts) {
      throw new Error("not repeated: it may have been applied");
    }
    return super.refreshRetryTokenForRetry(token, errorInfo);
  }
}

/** Whether an error, as the SDK classifies it, says that the request was not carried out and may be later. */
export function wasSurelyRefused(errorInfo: {
  readonly errorType: string;
  readonly error?: unknown;
}): boolean {
  return errorInfo.errorType === "THROTTLING" || isConflict(errorInfo.error);
}

/** Whether a plain write met a transaction on the same item. */
function isConflict(error: unknown): boolean {
  return error instanceof Error && error.name === "TransactionConflictException";
}
