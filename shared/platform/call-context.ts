import { AsyncLocalStorage } from "node:async_hooks";

/** The requests to AWS in one call of a function, and the sum of their times. Those that run together count each. */
interface AwsCalls {
  awsCalls: number;
  awsMs: number;
}

/** The state of a call, for all code that it runs. */
interface CallContext extends AwsCalls {
  readonly requestId: string | undefined;
}

const contexts = new AsyncLocalStorage<CallContext>();

/** Does some work as a call, whose requests to AWS are counted. @param requestId of the customer's request that caused it */
export async function inCall<Result>(
  work: () => Promise<Result>,
  requestId: string | undefined,
): Promise<Result> {
  return contexts.run({ awsCalls: 0, awsMs: 0, requestId }, work);
}

/** Returns the counts so far; undefined outside of a call. */
export function awsCallsSoFar(): Readonly<AwsCalls> | undefined {
  const count = contexts.getStore();
  return count && { awsCalls: count.awsCalls, awsMs: Math.round(count.awsMs) };
}

/** Returns the ID of the request that caused the present work; undefined without one. */
export function causingRequestId(): string | undefined {
  return contexts.getStore()?.requestId;
}

/** Counts a request, with its repetitions. @param startedMs by the clock `performance` */
export function countAwsCall(startedMs: number): void {
  const count = contexts.getStore();
  if (count === undefined) return;
  count.awsCalls += 1;
  count.awsMs += performance.now() - startedMs;
}
