import { AsyncLocalStorage } from "node:async_hooks";

/** The requests to AWS in one call of a function, and the sum of their times. Those that run together count each. */
interface AwsCalls {
  awsCalls: number;
  awsMs: number;
}

interface Counted extends AwsCalls {
  readonly requestId: string | undefined;
}

const counting = new AsyncLocalStorage<Counted>();

/** Counts the requests to AWS of some work. @param requestId of the customer's request that caused it */
export async function countingAwsCalls<Result>(
  work: () => Promise<Result>,
  requestId: string | undefined,
): Promise<Result> {
  return counting.run({ awsCalls: 0, awsMs: 0, requestId }, work);
}

/** Returns the counts so far; undefined where nothing is counted. */
export function awsCallsSoFar(): Readonly<AwsCalls> | undefined {
  const count = counting.getStore();
  return count && { awsCalls: count.awsCalls, awsMs: Math.round(count.awsMs) };
}

/** Returns the ID of the request that caused the present work; undefined without one. */
export function causingRequestId(): string | undefined {
  return counting.getStore()?.requestId;
}

/** Counts a request, with its repetitions. @param startedMs by the clock `performance` */
export function countAwsCall(startedMs: number): void {
  const count = counting.getStore();
  if (count === undefined) return;
  count.awsCalls += 1;
  count.awsMs += performance.now() - startedMs;
}
