import { StandardRetryStrategy } from "@smithy/core/retry";

type Refresh = StandardRetryStrategy["refreshRetryTokenForRetry"];

/** Longest wait between two attempts; the waits double up to it and are random below it. */
const maxDelayMs = 1_000;

/**
 * Repeats a request only when DynamoDB said that it refused the one before: it was throttled, or the item was
 * part of a running transaction. A lost answer, a time-out or a 500 is not repeated, because the write may
 * have been applied: the SDK's default strategy would apply it a second time.
 */
export class SingleEffectRetryStrategy extends StandardRetryStrategy {
  constructor() {
    super({
      maxAttempts: 8,
      backoff: {
        setDelayBase: () => undefined,
        computeNextBackoffDelay: (attempt) => Math.random() * Math.min(maxDelayMs, 25 * 2 ** attempt),
      },
    });
  }

  override async refreshRetryTokenForRetry(
    token: Parameters<Refresh>[0],
    errorInfo: Parameters<Refresh>[1],
  ): ReturnType<Refresh> {
    if (!wasSurelyRefused(errorInfo)) throw new Error("not repeated: the write may have been applied");
    return super.refreshRetryTokenForRetry(token, { ...errorInfo, errorType: "THROTTLING" });
  }
}

/** Whether an error says that DynamoDB did not apply the write. */
export function wasSurelyRefused(errorInfo: {
  readonly errorType: string;
  readonly error?: unknown;
}): boolean {
  const { errorType, error } = errorInfo;
  return (
    errorType === "THROTTLING" || (error instanceof Error && error.name === "TransactionConflictException")
  );
}
